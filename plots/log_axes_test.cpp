/// Reads figures as their readers do: what the ends of a curve are by the labels of its axes is what the data
/// say.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "experiments/base/test_folder.h"
#include "plots/curves.h"
#include "plots/figure.h"
#include "plots/paths.h"
#include "plots/profiles.h"
#include "plots/scaling_plot.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

#define SKIP_WITHOUT_GNUPLOT()                          \
  if (std::system("gnuplot --version >/dev/null 2>&1")) \
  GTEST_SKIP() << "gnuplot is not installed: no image can be drawn"

/// Of the numbers that are read: pixels are written with two decimals.
constexpr double kTolerance = 0.003;

struct Point {
  double x, y;
};

/// Part of a picture, in its pixels.
struct Area {
  double left = 0, right = 960, top = 0, bottom = 640;
  bool holds(const Point& p) const { return left <= p.x && p.x <= right && top <= p.y && p.y <= bottom; }
};

struct Label {
  double pixel, value;
};

/// What stands outside tags, tag by tag.
std::vector<std::string> texts_of(const std::string& svg) {
  std::vector<std::string> out;
  for (std::size_t at = svg.find('>'); at != std::string::npos; at = svg.find('>', at + 1))
    if (const std::size_t end = svg.find('<', at); end != std::string::npos && end > at + 1)
      out.push_back(svg.substr(at + 1, end - at - 1));
  return out;
}

/// "1,500", "0.25", and 2×10 with a raised -4.
double number_of(const std::string& tspans) {
  std::vector<std::string> texts = texts_of(tspans);
  std::erase(texts.at(0), ',');
  if (texts.size() == 1) return std::stod(texts[0]);
  EXPECT_TRUE(texts[0].ends_with("10")) << tspans;
  EXPECT_THAT(tspans, testing::HasSubstr("dy=\"-")) << "the exponent is raised";
  const double digits = texts[0] == "10" ? 1.0 : std::stod(texts[0]);
  return digits * std::pow(10.0, std::stod(texts[1]));
}

/// The points of a path, in parts, each from an M on.
std::vector<std::vector<Point>> parts_of(const std::string& path) {
  std::vector<std::vector<Point>> parts;
  std::istringstream in(path);
  for (std::string word; in >> word;) {
    Point p{};
    if (std::sscanf(word.c_str(), "%*[ML]%lf,%lf", &p.x, &p.y) != 2) continue;
    if (word.front() == 'M') parts.emplace_back();
    parts.back().push_back(p);
  }
  return parts;
}

/// Labels of axes and curves that an SVG of gnuplot has in an area.
class Picture {
 public:
  explicit Picture(const std::string& svg, const Area& area = {}) {
    read_labels(svg, area);
    read_curves(svg, area);
  }

  /// By the two outermost labels of a log axis.
  double x(double pixel) const { return read(x_labels, pixel); }
  double y(double pixel) const { return read(y_labels, pixel); }

  /// The points of the curve with this title, in the order in which they are drawn.
  const std::vector<Point>& curve(const std::string& title) const {
    static const std::vector<Point> none(1);
    for (const auto& [name, points] : curves_)
      if (name == title && !points.empty()) return points;
    ADD_FAILURE() << "found no curve '" << title << "'";
    return none;
  }

  std::vector<Label> x_labels, y_labels;

 private:
  /// The text of a label follows the mark of its tick, a short line across the axis.
  void read_labels(const std::string& svg, const Area& area) {
    constexpr std::string_view kBetween = "'/>\t<g transform=";
    for (std::size_t at = svg.find(kBetween); at != std::string::npos; at = svg.find(kBetween, at + 1)) {
      Point from{}, to{};
      if (std::sscanf(svg.c_str() + svg.rfind('M', at), "M%lf,%lf L%lf,%lf", &from.x, &from.y, &to.x,
                      &to.y) != 4 ||
          !area.holds(from))
        continue;
      const std::size_t begin = svg.find("<text>", at) + 6, end = svg.find("</text>", at);
      const double value = number_of(svg.substr(begin, end - begin));
      if (from.y == to.y)
        y_labels.push_back({from.y, value});
      else
        x_labels.push_back({from.x, value});
    }
  }

  /// The first part of a curve with a title is its sample in the key.
  void read_curves(const std::string& svg, const Area& area) {
    constexpr std::string_view kCurve = "<g id=\"gnuplot_plot_",
                               kPath = "<path stroke='rgb(";  // borders: 'black'
    for (std::size_t at = svg.find(kCurve); at != std::string::npos;) {
      const std::size_t next = svg.find(kCurve, at + 1);
      const std::string block = svg.substr(at, next == std::string::npos ? next : next - at);
      at = next;
      const std::size_t name = block.find("<title>") + 7;
      std::string title = block.substr(name, block.find("</title>") - name);
      bool sample = !title.starts_with("gnuplot_plot_");
      std::vector<Point> points;
      for (std::size_t path = block.find(kPath); path != std::string::npos;
           path = block.find(kPath, path + 1)) {
        const std::size_t begin = block.find(" d='", path) + 4;
        for (const std::vector<Point>& part : parts_of(block.substr(begin, block.find('\'', begin) - begin)))
          if (!std::exchange(sample, false))
            std::copy_if(part.begin(), part.end(), std::back_inserter(points),
                         [&](const Point& p) { return area.holds(p); });
      }
      curves_.emplace_back(std::move(title), std::move(points));
    }
  }

  static double read(const std::vector<Label>& labels, double pixel) {
    if (labels.size() < 2) return std::nan("");
    const Label &a = labels.front(), &b = labels.back();
    return a.value * std::pow(b.value / a.value, (pixel - a.pixel) / (b.pixel - a.pixel));
  }

  std::vector<std::pair<std::string, std::vector<Point>>> curves_;
};

/// The labels of a log axis stand in proportion.
void expect_proportion(const std::vector<Label>& labels) {
  ASSERT_GE(labels.size(), 2u) << "nothing can be read off";
  const Label &a = labels.front(), &b = labels.back();
  for (const Label& label : labels)
    EXPECT_NEAR((label.pixel - a.pixel) / (b.pixel - a.pixel),
                std::log(label.value / a.value) / std::log(b.value / a.value), kTolerance)
        << label.value;
}

void expect_read(double read, double value, const char* axis) {
  EXPECT_NEAR(read / value, 1.0, kTolerance) << axis << ": read " << read << ", the data say " << value;
}

Picture picture_of(const TestFolder& folder, const std::string& name, const Area& area = {}) {
  return Picture(read_text(folder / (name + ".svg")), area);
}

/// Two columns of the first and last row of a block of NAME.tsv; blocks end with an empty line.
std::pair<Point, Point> ends_in(const TestFolder& folder, const std::string& name, std::size_t x,
                                std::size_t y, std::size_t block = 0) {
  std::istringstream in(read_text(folder / (name + ".tsv")));
  std::vector<std::vector<Point>> blocks(1);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, '\t');) fields.push_back(field);
    if (fields.empty() && !blocks.back().empty()) blocks.emplace_back();
    char* after = nullptr;  // headers hold no numbers
    if (fields.size() > std::max(x, y))
      if (const Point p{std::strtod(fields[x].c_str(), &after), std::stod("0" + fields[y])}; *after == '\0')
        blocks.back().push_back(p);
  }
  return {blocks.at(block).front(), blocks.at(block).back()};
}

proxbench::Run run_of(const std::string& label,
                      const std::vector<std::pair<double, std::uint64_t>>& nonzeros) {
  proxbench::Run run;
  run.parameters.dataset = "ocr";
  run.result.description = "made up";
  run.parameters.solver = run.parameters.label = label;
  run.parameters.lambda = 1.0;
  run.set_status("converged");
  run.best.objective = 100.0;
  for (const auto& [seconds, nnz] : nonzeros) {
    Sample& sample = run.trace.emplace_back();
    sample.seconds = seconds;
    sample.nnz = nnz;
    sample.objective = 100.0 * (1.0 + 3e-9 / seconds);
    sample.gap = sample.objective * 7e-7 / seconds;
  }
  return run;
}

/// Reads both ends of the curve in NAME.svg.
void expect_ends(const TestFolder& folder, const std::string& name, std::size_t y_column) {
  SCOPED_TRACE(name);
  const Picture picture = picture_of(folder, name);
  const auto [first, last] = ends_in(folder, name, 2, y_column);
  const std::vector<Point>& curve = picture.curve("prox-qn");
  expect_proportion(picture.x_labels);
  expect_proportion(picture.y_labels);
  expect_read(picture.x(curve.front().x), first.x, "x");
  expect_read(picture.y(curve.front().y), first.y, "y");
  expect_read(picture.x(curve.back().x), last.x, "x");
  expect_read(picture.y(curve.back().y), last.y, "y");
}

TEST(LogAxes, OfCurvesSayWhatTheDataSay) {
  SKIP_WITHOUT_GNUPLOT();
  // The axis of nonzeros begins at 309 / 1.5 = 206.
  for (const std::uint64_t lowest : {309u, 1490u}) {
    const TestFolder folder;
    make_curves({run_of("prox-qn", {{0.037, 900000}, {0.5, 9000}, {40.0, lowest}})}, folder.path(),
                {.quantities = {"objective", "nnz", "gap"}, .log_seconds = true});
    for (const char* quantity : {"objective", "nnz", "gap"})
      expect_ends(folder, std::string("ocr-lambda1-") + quantity + "-logx", 3);
  }
}

TEST(LogAxes, OfProfilesSayWhatTheDataSay) {
  SKIP_WITHOUT_GNUPLOT();
  for (const double slowest : {3.4, 30.0, 41000.0}) {
    const TestFolder folder;
    proxbench::Run fast = run_of("fast", {{17.0, 10}}), slow = run_of("slow", {{17.0 * slowest, 10}});
    for (proxbench::Run* run : {&fast, &slow}) run->best.relative_kkt = 1e-9;
    make_profiles({fast, slow}, folder.path(), {.targets = {1e-3}});
    for (const char* name : {"profile-0.001", "ecdf"}) {
      SCOPED_TRACE(name);
      const Picture picture = picture_of(folder, name);
      expect_proportion(picture.x_labels);
      // The step of a curve is where it rises.
      const std::vector<Point>& curve = picture.curve("slow");
      const auto step = std::adjacent_find(curve.begin(), curve.end(),
                                           [](const Point& a, const Point& b) { return a.y > b.y + 1.0; });
      ASSERT_NE(step, curve.end());
      expect_read(picture.x(step->x), std::string(name) == "ecdf" ? 17.0 * slowest : slowest, "x");
    }
  }
}

TEST(LogAxes, OfPathsSayWhatTheDataSay) {
  SKIP_WITHOUT_GNUPLOT();
  for (const double smallest : {390.0, 20.6, 0.04}) {
    const TestFolder folder;
    StoredPath path;
    path.run = run_of("prox-qn", {});
    path.run.parameters.path = "path";
    for (const double lambda : {470.0, smallest}) path.points.emplace_back().lambda = lambda;
    make_paths({path}, folder.path());
    const Picture picture = picture_of(folder, "path-ocr-nnz");
    const std::vector<Point>& curve = picture.curve("prox-qn");
    expect_proportion(picture.x_labels);
    EXPECT_LT(curve.front().x, curve.back().x);
    expect_read(picture.x(curve.front().x), 470.0, "x");
    expect_read(picture.x(curve.back().x), smallest, "x");
  }
}

TEST(LogAxes, OfSpeedUpsSayWhatTheDataSay) {
  SKIP_WITHOUT_GNUPLOT();
  for (const double at_most : {0.07, 1.3, 21.0}) {
    const TestFolder folder;
    Scaling scaling;
    scaling.threads = {1, 3, 24};
    scaling.backends = {"openmp"};
    scaling.cpus = 24;
    scaling.speeds = {{1, 10e9, {{"openmp", 0.0}}}};
    ScalingProblem& problem = scaling.problems.emplace_back();
    for (const int threads : scaling.threads) {
      ScalingRun& run = problem.runs.emplace_back();
      run.backend = "openmp";
      run.threads = threads;
      const double seconds = threads == 1 ? 8.0 : 8.0 / at_most;
      run.phases = {{"scores", 1, seconds, seconds, 1e9, 1e9, {{64, 1}}}};
    }
    draw_scaling(scaling, phase_scalings(scaling, {}), folder.path());
    const Picture picture = picture_of(folder, "scale", {.right = 480, .bottom = 0.58 * 640});
    const std::vector<Point>& curve =
        picture.curve("gnuplot_plot_3a");  // after the ideal and the key of the back end
    const auto [first, last] = ends_in(folder, "scale", 2, 6);
    EXPECT_DOUBLE_EQ(last.y, at_most);
    expect_proportion(picture.x_labels);
    expect_proportion(picture.y_labels);
    expect_read(picture.x(curve.back().x), last.x, "x");
    expect_read(picture.y(curve.back().y), last.y, "y");
    expect_read(picture.y(curve.front().y), first.y, "y");
  }
}

/// The axes alone, of many ranges: all in one run of gnuplot.
TEST(LogAxes, OfAnyRangeSayWhatTheDataSay) {
  SKIP_WITHOUT_GNUPLOT();
  struct Case {
    Range x, y;
    int base;
  };
  const TestFolder folder;
  std::vector<Case> cases;
  std::string script = "set encoding utf8\nset terminal svg enhanced size 960,640\nset tics nomirror out\n";
  for (const int base : {10, 2})
    for (const int exponent : {-9, -2, 0, 2, 6})
      for (const double span : {1.25, 2.3, 7.0, 40.0, 900.0, 2e5, 3e13})
        for (int digit = 1; digit <= 9; ++digit) {
          Case& one = cases.emplace_back();
          one.base = base;
          for (const auto& [range, first] : {std::pair{&one.x, digit}, std::pair{&one.y, 10 - digit}}) {
            range->add((first + 0.06) * std::pow(10.0, exponent));
            range->add(range->min * span);
          }
          script += fmt::format(
              "reset\nset tics nomirror out\nset output '{}/{}.svg'\n{}{}$data << END\n{} {}\n{} {}\nEND\n"
              "plot $data with lines title 'it'\n",
              folder.path().string(), cases.size() - 1, log_axis("x", one.x, base),
              log_axis("y", one.y, base), one.x.min, one.y.min, one.x.max, one.y.max);
        }
  const fs::path file = folder.write("all.gp", script + "set output\n");
  ASSERT_EQ(std::system(("LC_ALL=C.UTF-8 gnuplot '" + file.string() + "'").c_str()), 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [x, y, base] = cases[i];
    SCOPED_TRACE(fmt::format("base {}: x from {} to {}, y from {} to {}", base, x.min, x.max, y.min, y.max));
    const Picture picture = picture_of(folder, std::to_string(i));
    EXPECT_LE(picture.x_labels.size(), 12u);
    EXPECT_LE(picture.y_labels.size(), 16u);
    expect_proportion(picture.x_labels);
    expect_proportion(picture.y_labels);
    const std::vector<Point>& curve = picture.curve("it");
    expect_read(picture.x(curve.front().x), x.min, "x");
    expect_read(picture.x(curve.back().x), x.max, "x");
    expect_read(picture.y(curve.front().y), y.min, "y");
    expect_read(picture.y(curve.back().y), y.max, "y");
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace proxbench
