#include "plots/figure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
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
/// Longest line of a title or caption, in characters of its small font.
constexpr std::size_t kLineLength = 92;
/// A log axis of at most this many decades has ticks within each.
constexpr double kFewDecades = 2.5;

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
    gnuplot = std::make_unique<Process>(
        ProcessSettings{.command = {"gnuplot", script}, .folder = folder, .log = log});
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

std::string log_axis(const char* axis, const Range& range, double margin, const char* format) {
  const double low = range.min / margin, high = range.max * margin;
  std::string out = fmt::format("set logscale {0}\nset {0}range [{1:.6g}:{2:.6g}]\n", axis, low, high);
  if (std::log10(high / low) > kFewDecades)
    return out + fmt::format("set format {0} {1}\nset {0}tics 10\n", axis, format);
  const std::vector<int> digits =
      high / low > 10.0 ? std::vector<int>{1, 2, 5} : std::vector<int>{1, 2, 3, 4, 5, 6, 8};
  std::string ticks;
  for (int decade = static_cast<int>(std::floor(std::log10(low))); decade <= std::log10(high); ++decade)
    for (const int digit : digits) {
      const double tick = digit * std::pow(10.0, decade);
      if (tick >= low && tick <= high)
        ticks += fmt::format(
            "{}'{}' {:.0e}", ticks.empty() ? "" : ", ",
            tick >= 1.0 && tick < 1e7 ? with_commas(std::llround(tick)) : fmt::format("{:g}", tick), tick);
    }
  return out + fmt::format("set {}tics ({})\n", axis, ticks);
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
