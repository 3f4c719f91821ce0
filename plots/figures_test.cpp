/// Reads figures as readers do: the ends of a curve, read off by the labels of the axes, must agree with the
/// data.

#include "plots/figures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

#define SKIP_WITHOUT_GNUPLOT()                          \
  if (std::system("gnuplot --version >/dev/null 2>&1")) \
  GTEST_SKIP() << "gnuplot is not installed: no image can be drawn"

/// The tolerance of numbers that are read off: pixels are written with two decimals.
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

/// Returns the texts outside tags, tag by tag.
std::vector<std::string> texts_of(const std::string& svg) {
  std::vector<std::string> out;
  for (std::size_t at = svg.find('>'); at != std::string::npos; at = svg.find('>', at + 1))
    if (const std::size_t end = svg.find('<', at); end != std::string::npos && end > at + 1)
      out.push_back(svg.substr(at + 1, end - at - 1));
  return out;
}

/// Parses e.g. "1,500", "0.25" and "2×10⁻⁴".
double number_of(const std::string& label) {
  static const std::vector<std::pair<std::string, char>> raised = {
      {"⁻", '-'}, {"⁰", '0'}, {"¹", '1'}, {"²", '2'}, {"³", '3'}, {"⁴", '4'},
      {"⁵", '5'}, {"⁶", '6'}, {"⁷", '7'}, {"⁸", '8'}, {"⁹", '9'}};
  std::string digits = texts_of(label).at(0), exponent;
  std::erase(digits, ',');
  for (bool found = true; found;) {
    found = false;
    for (const auto& [text, digit] : raised)
      if (digits.ends_with(text)) {
        digits.erase(digits.size() - text.size());
        exponent.insert(exponent.begin(), digit);
        found = true;
      }
  }
  if (exponent.empty()) return std::stod(digits);
  EXPECT_TRUE(digits.ends_with("10")) << label;
  return (digits == "10" ? 1.0 : std::stod(digits)) * std::pow(10.0, std::stod(exponent));
}

/// Returns the points of an SVG path in parts. Each part begins at an M.
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

/// The labels of axes and the curves in an area of an SVG by gnuplot.
class Picture {
 public:
  explicit Picture(const std::string& svg, const Area& area = {}) {
    read_labels(svg, area);
    read_curves(svg, area);
  }

  /// These interpolate between the two outermost labels of an axis.
  double x(double pixel, bool log) const { return read(x_labels, pixel, log); }
  double y(double pixel, bool log) const { return read(y_labels, pixel, log); }

  /// Returns the points of the curve with this title, in drawing order.
  const std::vector<Point>& curve(const std::string& title) const {
    static const std::vector<Point> none(1);
    for (const auto& [name, points] : curves_)
      if (name == title && !points.empty()) return points;
    ADD_FAILURE() << "found no curve '" << title << "'";
    return none;
  }

  std::vector<Label> x_labels, y_labels;

 private:
  /// In the SVG, the text of a label follows the mark of its tick, a short line across the axis.
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

  /// If a curve has a title, its first part is the sample in the key.
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

  static double read(const std::vector<Label>& labels, double pixel, bool log) {
    if (labels.size() < 2) return std::nan("");
    const Label &a = labels.front(), &b = labels.back();
    const double share = (pixel - a.pixel) / (b.pixel - a.pixel);
    return log ? a.value * std::pow(b.value / a.value, share) : a.value + share * (b.value - a.value);
  }

  std::vector<std::pair<std::string, std::vector<Point>>> curves_;
};

/// Expects the labels of an axis to be in proportion.
void expect_proportion(const std::vector<Label>& labels, bool log) {
  ASSERT_GE(labels.size(), 2u) << "nothing can be read off";
  const Label &a = labels.front(), &b = labels.back();
  const auto place = [&](double value) {
    return log ? std::log(value / a.value) / std::log(b.value / a.value)
               : (value - a.value) / (b.value - a.value);
  };
  for (const Label& label : labels)
    EXPECT_NEAR((label.pixel - a.pixel) / (b.pixel - a.pixel), place(label.value), kTolerance) << label.value;
}

/// On a linear axis the tolerance is a fraction of the axis's span.
void expect_read(double read, double value, const char* axis, double span = 0.0) {
  EXPECT_NEAR(read, value, kTolerance * (span > 0.0 ? span : std::abs(value)))
      << axis << ": read " << read << ", the data say " << value;
}

Picture picture_of(const TestFolder& folder, const std::string& name, const Area& area = {}) {
  return Picture(read_text(folder / (name + ".svg")), area);
}

/// Returns two columns of the first and last row of a block of NAME.tsv. Blocks end with an empty line.
std::pair<Point, Point> ends_in(const TestFolder& folder, const std::string& name, std::size_t x,
                                std::size_t y, std::size_t block = 0) {
  std::istringstream in(read_text(folder / (name + ".tsv")));
  std::vector<std::vector<Point>> blocks(1);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, '\t');) fields.push_back(field);
    if (fields.empty() && !blocks.back().empty()) blocks.emplace_back();
    char* after = nullptr;  // headers contain no numbers
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

/// Where a curve is found in picture and data.
struct Reading {
  std::string figure, curve;
  std::size_t block, x, y;  ///< of NAME.tsv, from 0
  bool log_x, log_y;
  Area area = {};
};

/// Draws figures of one kind. Their axes span a wider or narrower range for `span` > 1.
struct Kind {
  const char* name;
  void (*draw)(const fs::path& folder, double span);
  std::vector<Reading> readings;
};

void draw_curves(const fs::path& folder, double span) {
  const auto lowest = static_cast<std::uint64_t>(206.0 * 1.5 * span);  // the axis begins a third lower
  proxbench::Run run = run_of("prox-newton", {{0.037, 900000}, {0.5, 9000}, {40.0, lowest}});
  for (Sample& sample : run.trace) sample.test_accuracy = 0.5 + 0.2 / span + 0.001 * sample.seconds;
  for (const bool log : {true, false})
    draw_all(curve_charts({run}, {.quantities = {"objective", "nnz", "gap", "accuracy"}, .log_seconds = log}),
             folder);
}

void draw_band(const fs::path& folder, double span) {
  const auto lowest = static_cast<std::uint64_t>(300.0 * span);
  std::vector<proxbench::Run> runs(2, run_of("prox-newton", {{0.5, 90000}, {40.0, lowest}}));
  runs[1].parameters.repetition = 2;
  for (Sample& sample : runs[1].trace) sample.nnz *= 3;
  draw_all(curve_charts(runs, {.quantities = {"nnz"}}), folder);
}

void draw_profiles(const fs::path& folder, double span) {
  proxbench::Run fast = run_of("fast", {{17.0, 10}}), slow = run_of("slow", {{17.0 * span, 10}});
  for (proxbench::Run* run : {&fast, &slow}) run->best.relative_kkt = 1e-9;
  draw_all(profile_charts({fast, slow}, {.kinds = {"profile", "ecdf"}}, {1e-3}), folder);
}

void draw_paths(const fs::path& folder, double span) {
  proxbench::Run path = run_of("prox-newton", {});
  path.parameters.path = "path";
  for (const double lambda : {470.0, 470.0 / span}) {
    PathPoint& point = path.points.emplace_back();
    point.lambda = lambda;
    point.certificate.nnz = static_cast<std::uint64_t>(1000.0 / lambda);
    point.certificate.objective = 3.0 * lambda;
    point.seconds = 500.0 / lambda;
    point.test_accuracy = 0.5;
  }
  draw_all(path_charts({path}), folder);
}

void draw_scale(const fs::path& folder, double span) {
  std::vector<proxbench::Run> runs;
  for (const int threads : {1, 3, 24}) {
    proxbench::Run& run = runs.emplace_back();
    run.parameters.threads = threads;
    run.provenance.cores = 24;
    const double seconds = threads == 1 ? 8.0 : 24.0 / span;  // slower with more threads if span < 3
    run.result.phases = {{"scores", 1, seconds, seconds, 1e9, 1e9}};
  }
  draw_all(scaling_charts(scaling_problems(runs)), folder);
}

void draw_theory(const fs::path& folder, double span) {
  TheoryArm arm{.label = "fast", .iterations = {}};
  for (const int t : {1, 2, 3})
    arm.iterations.push_back({.iteration = t,
                              .nnz = 7,
                              .error = std::pow(span, -t),
                              .ratio = 1.0 / (span + t),
                              .dennis_more = t / span});
  draw_all(theory_charts({{.dataset = "d", .description = "", .lambda = 1.0, .arms = {arm}}}), folder);
}

std::vector<Kind> kinds() {
  std::vector<Reading> curves;
  for (const char* quantity : {"objective", "nnz", "gap", "accuracy"})
    for (const bool log : {true, false})
      curves.push_back({std::string("ocr-lambda1-") + quantity + (log ? "-logx" : ""), "prox-newton", 1, 2, 3,
                        log, std::string_view(quantity) != "accuracy"});
  std::vector<Reading> paths;
  for (const char* quantity : {"nnz", "objective", "seconds"})
    paths.push_back({std::string("path-ocr-") + quantity, "prox-newton", 0, 1, 2, true, false});
  const Area left{.right = 480, .bottom = 0.45 * 640}, right{.left = 480, .bottom = 0.45 * 640};
  // These curves follow the ideal line and, in the first panel, the key of the back end.
  const std::vector<Reading> scale = {{"scale", "gnuplot_plot_3a", 0, 2, 6, true, true, left},
                                      {"scale", "gnuplot_plot_2b", 0, 2, 7, true, false, right}};
  const std::vector<Reading> theory = {
      {"theory-d-1", "fast", 0, 1, 2, false, true, {.bottom = 0.36 * 640}},
      {"theory-d-1", "gnuplot_plot_1b", 0, 1, 3, false, true, {.top = 0.37 * 640, .bottom = 0.63 * 640}},
      {"theory-d-1", "gnuplot_plot_1c", 0, 1, 4, false, true, {.top = 0.64 * 640}}};
  return {{"curves", draw_curves, curves},
          {"band", draw_band, {{"ocr-lambda1-nnz", "prox-newton", 2, 2, 3, false, true}}},
          {"profile and ecdf",
           draw_profiles,
           {{"profile-0.001", "slow", 1, 1, 2, true, false}, {"ecdf", "slow", 1, 1, 2, true, false}}},
          {"paths", draw_paths, paths},
          {"scale", draw_scale, scale},
          {"theory", draw_theory, theory}};
}

TEST(Figures, OfEveryKindSayWhatTheDataSay) {
  SKIP_WITHOUT_GNUPLOT();
  for (const Kind& kind : kinds())
    for (const double span : {1.2, 21.0, 4100.0}) {
      const TestFolder folder;
      kind.draw(folder.path(), span);
      for (const auto& [figure, curve, block, x, y, log_x, log_y, area] : kind.readings) {
        SCOPED_TRACE(fmt::format("{}: {}, curve {}, span {}", kind.name, figure, curve, span));
        const Picture picture = picture_of(folder, figure, area);
        const auto [first, last] = ends_in(folder, figure, x, y, block);
        const std::vector<Point>& drawn = picture.curve(curve);
        expect_proportion(picture.x_labels, log_x);
        expect_proportion(picture.y_labels, log_y);
        const double x_span =
            log_x ? 0.0 : std::abs(picture.x_labels.back().value - picture.x_labels.front().value);
        const double y_span =
            log_y ? 0.0 : std::abs(picture.y_labels.back().value - picture.y_labels.front().value);
        for (const auto& [point, data] : {std::pair{drawn.front(), first}, std::pair{drawn.back(), last}}) {
          expect_read(picture.x(point.x, log_x), data.x, "x", x_span);
          expect_read(picture.y(point.y, log_y), data.y, "y", y_span);
        }
      }
    }
}

TEST(Figures, PutThePathFromLeftToRightAndStepsWhereTheyAre) {
  SKIP_WITHOUT_GNUPLOT();
  const TestFolder folder;
  draw_paths(folder.path(), 20.0);
  const std::vector<Point> path = picture_of(folder, "path-ocr-nnz").curve("prox-newton");
  EXPECT_LT(path.front().x, path.back().x);
  draw_profiles(folder.path(), 30.0);
  for (const auto& [name, at] : {std::pair{"profile-0.001", 30.0}, std::pair{"ecdf", 17.0 * 30.0}}) {
    SCOPED_TRACE(name);
    const Picture picture = picture_of(folder, name);
    const std::vector<Point>& curve = picture.curve("slow");
    const auto step = std::adjacent_find(curve.begin(), curve.end(),
                                         [](const Point& a, const Point& b) { return a.y > b.y + 1.0; });
    ASSERT_NE(step, curve.end());
    expect_read(picture.x(step->x, true), at, "x");
  }
}

TEST(Figures, KeepTheirWidthBesideAKeyOfLongEntries) {
  SKIP_WITHOUT_GNUPLOT();
  const auto width = [](std::size_t length) {
    const TestFolder folder;
    draw_all(curve_charts({run_of(std::string(length, 'm'), {{0.04, 900000}, {40.0, 200}})},
                          {.quantities = {"nnz"}, .log_seconds = true}),
             folder.path());
    const Picture picture = picture_of(folder, "ocr-lambda1-nnz-logx");
    return picture.x_labels.back().pixel - picture.x_labels.front().pixel;
  };
  EXPECT_GE(width(50), width(16));
}

/// Draws only axes, with many ranges, all in one run of gnuplot.
TEST(LogAxes, OfAnyRangeSayWhatTheDataSay) {
  SKIP_WITHOUT_GNUPLOT();
  struct Case {
    AxisRange x, y;
  };
  const TestFolder folder;
  std::vector<Case> cases;
  std::string script;
  for (const int exponent : {-9, -2, 0, 2, 6})
    for (const double span : {1.25, 2.3, 7.0, 40.0, 900.0, 2e5, 3e13})
      for (int digit = 1; digit <= 9; ++digit) {
        Case& one = cases.emplace_back();
        for (const auto& [range, first] : {std::pair{&one.x, digit}, std::pair{&one.y, 10 - digit}}) {
          range->add((first + 0.06) * std::pow(10.0, exponent));
          range->add(range->min * span);
        }
        const Chart chart{
            .name = std::to_string(cases.size() - 1),
            .title = "",
            .panels = {{.x = log_axis("x", one.x, kMostLabelsX),
                        .y = log_axis("y", one.y, kMostLabelsY),
                        .curves = {{.title = "it", .style = {"#000001"}, .block = 0, .x = 1, .y = 2}}}},
            .columns = {}};
        folder.write(chart.name + ".tsv",
                     fmt::format("x\ty\n{}\t{}\n{}\t{}\n", one.x.min, one.y.min, one.x.max, one.y.max));
        const std::string all = gnuplot_script(chart);
        const std::size_t begin = script.empty() ? all.find("set encoding") : all.find("set terminal svg");
        script += all.substr(begin, all.find("set terminal pdf") - begin);
      }
  folder.write("all.gp", script + "set output\n");
  ASSERT_EQ(std::system(("cd '" + folder.path().string() + "' && LC_ALL=C.UTF-8 gnuplot all.gp").c_str()), 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [x, y] = cases[i];
    SCOPED_TRACE(fmt::format("x from {} to {}, y from {} to {}", x.min, x.max, y.min, y.max));
    const Picture picture = picture_of(folder, std::to_string(i));
    EXPECT_LE(picture.x_labels.size(), 12u);
    EXPECT_LE(picture.y_labels.size(), 16u);
    expect_proportion(picture.x_labels, true);
    expect_proportion(picture.y_labels, true);
    const std::vector<Point>& curve = picture.curve("it");
    expect_read(picture.x(curve.front().x, true), x.min, "x");
    expect_read(picture.x(curve.back().x, true), x.max, "x");
    expect_read(picture.y(curve.front().y, true), y.min, "y");
    expect_read(picture.y(curve.back().y, true), y.max, "y");
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace proxbench
