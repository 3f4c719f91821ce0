#include "plots/figure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/process.h"
#include "experiments/results/results.h"
#include "plots/colours.h"
#include "plots/facts.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 8> kPointTypes = {7, 5, 9, 13, 11, 15, 2, 3};
constexpr std::array<int, 5> kDashTypes = {1, 2, 4, 5, 3};
/// Of gnuplot.
constexpr const char* kLocale = "LC_ALL=C.UTF-8";
/// Longest line of a title or caption, in characters of its small font.
constexpr std::size_t kLineLength = 92;
/// A log axis that spans more than this has ticks at powers of its base, others have them between as well.
constexpr double kFewDecades = 2.5, kFewDoublings = 3.2;
/// So many labels, and decades with ticks between them, have room on an axis.
constexpr std::size_t kMostLabelsX = 10, kMostLabelsY = 16;
constexpr double kMostMinorDecades = 8.0;
/// An axis with fewer ticks than this cannot be read.
constexpr std::size_t kFewestTicks = 3;
/// Between these, labels are written out.
constexpr double kLeastWrittenOut = 1e-4, kMostWrittenOut = 1e7;

/// Lines of at most kLineLength characters, broken at newlines and spaces.
std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    std::istringstream words(paragraph);
    std::string line;
    for (std::string word; words >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > kLineLength)
        lines.push_back(std::exchange(line, ""));
      line += (line.empty() ? "" : " ") + word;
    }
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::string script_text(const Figure& figure) {
  std::string out = fmt::format("# Draws {0}.svg, .pdf and .png from {0}.tsv: gnuplot {0}.gp\n", figure.name);
  // Where the locale is not of UTF-8, gnuplot warns of `set encoding utf8`, but needs it for Greek letters.
  out += fmt::format(
      "if (system('locale charmap 2>/dev/null') ne 'UTF-8' && system('{0} locale charmap') eq 'UTF-8') {{\n"
      "  system('{0} gnuplot {1}.gp')\n"
      "  exit status GPVAL_SYSTEM_ERRNO\n"
      "}}\n",
      kLocale, figure.name);
  out +=
      "set encoding utf8\n"
      "set datafile separator \"\\t\"\n"
      "set border 3 linewidth 1.2\n"
      "set tics nomirror out\n"
      "set grid xtics ytics linetype 1 linecolor rgb '#E3E3E3' linewidth 1\n"
      "set key outside right top vertical Left reverse noenhanced samplen 2.5 spacing 1.3\n";
  if (!figure.panels) {
    out += fmt::format("set title {}\n", gnuplot_quoted(figure.title));
    out += fmt::format("set ylabel {}\n", gnuplot_quoted(figure.y_label));
    out += fmt::format("set xlabel {}\n", gnuplot_quoted(figure.x_label));
  }
  out += figure.axes;
  const std::array<std::pair<const char*, const char*>, 3> terminals = {
      {{"svg", "svg enhanced size 960,640 dynamic font 'DejaVu Sans,16' background rgb 'white'"},
       {"pdf", "pdfcairo enhanced size 18cm,12cm font 'DejaVu Sans,11'"},
       {"png", "pngcairo enhanced size 1440,960 font 'DejaVu Sans,18' linewidth 1.5"}}};
  std::string draw = figure.plot;
  for (const auto& [extension, terminal] : terminals) {
    out += fmt::format("\nset terminal {}\nset output {}\n{}", terminal,
                       gnuplot_quoted(figure.name + "." + extension), draw);
    if (!figure.panels) draw = "replot\n";
  }
  return out + "set output\n";
}

/// Runs `gnuplot SCRIPT` in the folder. It dies with this process, so that it writes nothing after it.
void run_gnuplot(const fs::path& folder, const std::string& script) {
  const fs::path log = fs::absolute(folder / "gnuplot.log");
  std::unique_ptr<Process> gnuplot;
  try {
    gnuplot = std::make_unique<Process>(ProcessSettings{
        .command = {"gnuplot", script}, .environment = {kLocale}, .folder = folder, .log = log});
  } catch (const Error& error) {
    throw Error(fmt::format("cannot draw figures: {} (Debian package gnuplot-nox; scripts/install-deps)",
                            error.what()));
  }
  while (!gnuplot->wait_for(std::chrono::seconds(1))) {
  }
  if (gnuplot->end().exit_status != 0)
    throw Error(fmt::format("gnuplot failed on {}: {}", script, text_of(log)));
}

void rename_into(const fs::path& from, const fs::path& folder) {
  std::error_code error;
  fs::rename(from, folder / from.filename(), error);
  if (error) throw Error("cannot write " + (folder / from.filename()).string() + ": " + error.message());
}

/// A folder that goes away with its contents.
struct ScratchFolder {
  explicit ScratchFolder(const fs::path& parent) : path(parent / fmt::format(".drawing-{}", getpid())) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw Error("cannot write below " + parent.string() + ": " + error.message());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

/// digits * 10^exponent, rounded once.
double decimal(double digits, int exponent) {
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent < 0 ? digits / power : digits * power;
}

void add_inside(std::vector<double>& ticks, const Range& range, double tick) {
  if (range.min <= tick && tick <= range.max) ticks.push_back(tick);
}

/// In every decade, at these multiples of its power of ten.
std::vector<double> ticks_in_decades(const Range& range, const std::vector<int>& digits) {
  std::vector<double> ticks;
  for (int decade = static_cast<int>(std::floor(std::log10(range.min))); decade <= std::log10(range.max);
       ++decade)
    for (const int digit : digits) add_inside(ticks, range, decimal(digit, decade));
  return ticks;
}

std::vector<double> powers_of_two(const Range& range) {
  std::vector<double> ticks;
  for (double power = std::floor(std::log2(range.min)); power <= std::log2(range.max); ++power)
    add_inside(ticks, range, std::exp2(power));
  return ticks;
}

/// At equal distances of 1, 2 or 5 times a power of ten: three to nine of them.
std::vector<double> linear_ticks(const Range& range) {
  const double least_step = (range.max - range.min) / 8.0;
  const int exponent = static_cast<int>(std::floor(std::log10(least_step)));
  int digits = 1;
  for (const int larger : {2, 5, 10})
    if (decimal(digits, exponent) < least_step) digits = larger;
  std::vector<double> ticks;
  for (double i = std::floor(range.min / decimal(digits, exponent));
       decimal(i * digits, exponent) <= range.max; ++i)
    add_inside(ticks, range, decimal(i * digits, exponent));
  return ticks;
}

/// As many as have room, at equal distances.
std::vector<double> thinned(const std::vector<double>& ticks, std::size_t most) {
  const std::size_t step = (ticks.size() + most - 1) / most;
  std::vector<double> out;
  for (std::size_t i = 0; i < ticks.size(); i += step) out.push_back(ticks[i]);
  return out;
}

/// In enhanced mode.
std::string label_of(double tick, bool written_out) {
  if (written_out)
    return tick == std::floor(tick) ? with_commas(std::llround(tick)) : fmt::format("{}", tick);
  const std::string text = fmt::format("{:.9e}", tick);
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, text.find_last_not_of(".0", e - 1) + 1);
  return fmt::format("{}10^{{{}}}", digits == "1" ? "" : digits + "×", std::stoi(text.substr(e + 1)));
}

/// The list of an axis: labels with their places. gnuplot makes none itself: its `set ytics 10` counts from
/// the lower end of the axis, and the format '10^{%L}' cuts off what is then not a power of ten.
std::string ticks_text(const Range& range, int base, std::size_t most) {
  const double decades = std::log10(range.max / range.min), doublings = std::log2(range.max / range.min);
  std::vector<double> ticks, minor;
  if (base == 2 && doublings > kFewDoublings) {
    ticks = thinned(powers_of_two(range), most);
  } else if (base == 10 && decades > kFewDecades) {
    ticks = thinned(ticks_in_decades(range, {1}), most);
    if (decades <= kMostMinorDecades) minor = ticks_in_decades(range, {2, 3, 4, 5, 6, 7, 8, 9});
  } else {
    ticks = ticks_in_decades(range, decades > 1.0 ? std::vector{1, 2, 5} : std::vector{1, 2, 3, 4, 5, 6, 8});
    if (ticks.size() < kFewestTicks) ticks = linear_ticks(range);
  }
  const bool written_out = range.min >= kLeastWrittenOut && range.max < kMostWrittenOut;
  std::vector<std::string> list;
  for (const double tick : ticks) list.push_back(fmt::format("'{}' {}", label_of(tick, written_out), tick));
  for (const double tick : minor) list.push_back(fmt::format("'' {} 1", tick));
  return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace

LineStyle line_style(std::size_t place, std::size_t variant) {
  const std::size_t round = place / kColours.size() + variant;
  return {kColours[place % kColours.size()], kDashTypes[round % kDashTypes.size()],
          kPointTypes[(place + round) % kPointTypes.size()]};
}

std::string gnuplot_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n')
      out += "'.\"\\n\".'";
    else if (c == '\'')
      out += "''";
    else
      out += c;
  }
  return out + "'";
}

std::string gnuplot_literal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("{}^_@&~\\").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  }
  return out;
}

std::string small_lines(const std::string& text) {
  std::string out;
  for (const std::string& line : wrapped(text)) out += "\n{/*0.75 " + gnuplot_literal(line) + "}";
  return out;
}

std::string tsv_field(const std::string& text) {
  std::string out = text;
  // A quote would begin a string that may hold separators.
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r' || c == '"'; }, ' ');
  return out;
}

std::string tsv_number(double x) {
  return std::isfinite(x) ? fmt::format("{}", x) : "";
}

Range::Range() : min(std::numeric_limits<double>::infinity()), max(-min) {}

void Range::add(double x) {
  min = std::min(min, x);
  max = std::max(max, x);
}

Range Range::widened(double factor) const {
  Range out;
  out.add(min / factor);
  out.add(max * factor);
  return out;
}

std::string log_axis(const char* axis, const Range& range, int base, std::size_t panels) {
  const std::size_t most = (std::string_view(axis) == "x" ? kMostLabelsX : kMostLabelsY) / panels;
  return fmt::format("set logscale {0} {1}\nset {0}range [{2:.6g}:{3:.6g}]\nset {0}tics ({4})\n", axis, base,
                     range.min, range.max, ticks_text(range, base, most));
}

fs::path write_figure(const fs::path& folder, const Figure& figure) {
  const ScratchFolder scratch(folder);
  const std::string script = script_text(figure);
  for (const auto& [extension, text] : {std::pair{".gp", &script}, std::pair{".tsv", &figure.data}}) {
    write_file_atomically(scratch.path / (figure.name + extension), *text);
    write_file_atomically(folder / (figure.name + extension), *text);
  }
  run_gnuplot(scratch.path, figure.name + ".gp");
  for (const char* extension : {".svg", ".pdf", ".png"})
    rename_into(scratch.path / (figure.name + extension), folder);
  return folder / (figure.name + ".png");
}

}  // namespace proxbench
