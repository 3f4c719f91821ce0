#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/process.h"
#include "experiments/base/text.h"
#include "experiments/results/results.h"
#include "plots/chart.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, kSymbols> kPointTypes = {7, 5, 9, 13, 11, 15, 2, 3};
constexpr std::array<int, kDashes> kDashTypes = {1, 2, 4, 5, 3};
/// The positions of keys, in the order of KeyPlace.
constexpr std::array<const char*, 4> kKeys = {"", "outside right top vertical", "inside left top",
                                              "inside left bottom"};
constexpr const char* kGrey = "#7F7F7F";
/// The locale of gnuplot.
constexpr const char* kLocale = "LC_ALL=C.UTF-8";
/// Longest line of a title or caption, in characters of its small font.
constexpr std::size_t kLineLength = 92;
/// The size of a figure in pixels of the SVG, whose font has 16 pixels. A key outside has room for entries of
/// kKeyRoom characters. If the longest entry has more, the figure becomes wider by kKeyCharacter pixels for
/// each further character. gnuplot reserves a little less than that for a character.
constexpr std::size_t kWidth = 960, kHeight = 640, kKeyRoom = 16, kKeyCharacter = 12;

// ---- text

/// Makes a string constant in single quotes, in which gnuplot substitutes nothing.
std::string in_quotes(const std::string& text) {
  return "'" + replaced(text, {{'\n', "'.\"\\n\".'"}, {'\'', "''"}}) + "'";
}

/// Escapes the marks of gnuplot's enhanced mode.
std::string literal(const std::string& text) {
  return replaced(text, {{'{', "\\{"},
                         {'}', "\\}"},
                         {'^', "\\^"},
                         {'_', "\\_"},
                         {'@', "\\@"},
                         {'&', "\\&"},
                         {'~', "\\~"},
                         {'\\', "\\\\"},
                         {'\n', " "},
                         {'\r', " "},
                         {'\t', " "}});
}

/// Breaks small print at newlines and spaces into lines of at most kLineLength characters, each after a line
/// break.
std::string small_lines(const std::string& text) {
  std::string out;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    std::istringstream words(paragraph);
    std::string line;
    const auto end_line = [&] {
      if (!line.empty()) out += "\n{/*0.75 " + literal(std::exchange(line, "")) + "}";
    };
    for (std::string word; words >> word;) {
      if (line.size() + 1 + word.size() > kLineLength) end_line();
      line += (line.empty() ? "" : " ") + word;
    }
    end_line();
  }
  return out;
}

std::string title_text(const Chart& chart) {
  return in_quotes(fmt::format("{{/:Bold {}}}{}{}", literal(chart.warning + chart.title),
                               literal(chart.about), small_lines(chart.subtitle)));
}

// ---- panels

std::string axis_text(const char* axis, const Axis& of, const std::string& caption) {
  std::vector<std::string> ticks;
  for (const Tick& tick : of.ticks)
    ticks.push_back(fmt::format("{} {:.10g}", in_quotes(literal(tick.label)), tick.at));
  const auto [first, last] =
      of.reversed ? std::pair{of.range.max, of.range.min} : std::pair{of.range.min, of.range.max};
  return fmt::format(
      "{0} logscale {1}\nset {1}range [{2:.6g}:{3:.6g}]\nset {1}tics ({4})\nset {1}label {5}\n",
      of.log ? "set" : "unset", axis, first, last, fmt::join(ticks, ", "),
      in_quotes(literal(of.label) + small_lines(caption)));
}

/// Builds a panel's plot command.
class PlotCommand {
 public:
  PlotCommand(const std::string& file, const Panel& panel) : file_(file), panel_(panel) {}

  std::string text() {
    for (const Bars& bars : panel_.bars) add_bars(bars);
    for (const Guide& guide : panel_.guides)
      add_guide(std::isnan(guide.at) ? "x" : fmt::format("{:.3g}", guide.at), guide.title, 1);
    for (const Curve& curve : panel_.curves)
      if (curve.low > 0) add_band(curve);
    if (bounded())
      for (const Curve& curve : panel_.curves)
        add(fmt::format("{} {} notitle with lines linecolor rgb '#B0{}' linewidth 1", block(*curve.block),
                        above(panel_.floor, curve.x, curve.y), curve.style.colour + 1));
    for (const Curve& curve : panel_.curves) add_curve(curve);
    for (const Cross& cross : panel_.crosses)
      add(fmt::format(
          "{} every ::{}::{} {} notitle with points linecolor rgb '{}' pointtype 2 pointsize 2.2 linewidth 3",
          block(cross.block), cross.row, cross.row, above(panel_.floor, cross.x, cross.y), cross.colour));
    if (bounded()) add_guide(fmt::format("{:.3g}", panel_.bound), "accuracy of f*", 3);
    return fmt::format("plot {}\n", fmt::join(parts_, ", \\\n     "));
  }

 private:
  bool bounded() const { return !std::isnan(panel_.bound); }
  void add(std::string part) { parts_.push_back(std::move(part)); }
  std::string block(std::size_t i) const { return fmt::format("{} skip 1 index {}", in_quotes(file_), i); }
  /// Selects x, and the values of y that are above a level.
  static std::string above(double level, int x, int y) {
    return std::isfinite(level) ? fmt::format("using {0}:(${1} > {2:.6g} ? ${1} : 1/0)", x, y, level)
                                : fmt::format("using {}:{}", x, y);
  }
  static std::string titled(const std::string& title) {
    return title.empty() ? "notitle" : "title " + in_quotes(title);
  }

  void add_guide(const std::string& value, const std::string& title, int dash_type) {
    add(fmt::format("{} with lines {} linecolor rgb '{}' linewidth 1.5 dashtype {}", value, titled(title),
                    kGrey, dash_type));
  }
  /// If an edge of a band cannot be drawn, or is below the accuracy of f*, it is drawn at that limit. A band
  /// that lies completely below has no height there.
  void add_band(const Curve& curve) {
    std::string edges = fmt::format("{}:{}", curve.low, curve.high);
    if (std::isfinite(panel_.floor))
      edges = fmt::format("(${0} > {2:.6g} ? ${0} : {2:.6g}):(${1} > {2:.6g} ? ${1} : {2:.6g})", curve.low,
                          curve.high, bounded() ? panel_.bound : panel_.y.range.min);
    add(
        fmt::format("{} using {}:{} with filledcurves notitle fillcolor rgb '{}' fillstyle transparent solid "
                    "0.2 noborder",
                    block(*curve.block), curve.x, edges, curve.style.colour));
  }
  void add_curve(const Curve& curve) {
    std::string data = "NaN", look = "lines";
    if (curve.block)
      data = block(*curve.block) + " " + above(bounded() ? panel_.bound : panel_.floor, curve.x, curve.y);
    if (curve.steps) look = "steps";
    if (curve.symbol_size > 0.0) look = "linespoints";
    std::string part =
        fmt::format("{} {} with {} linecolor rgb '{}' linewidth {:.2g} dashtype {}", data,
                    titled(curve.title), look, curve.style.colour, curve.width, kDashTypes[curve.style.dash]);
    if (curve.symbol_size > 0.0)
      part += fmt::format(" pointtype {} pointsize {}", kPointTypes[curve.style.symbol], curve.symbol_size);
    if (curve.symbols > 0) part += fmt::format(" pointnumber {}", curve.symbols);
    add(std::move(part));
  }
  void add_bars(const Bars& bars) {
    add(fmt::format(
        "{} using (stringcolumn(1) eq {} ? ($4 + $5) / 2 : NaN):(($6 + $7) / 2):4:5:6:7:8 with "
        "boxxyerror notitle linecolor rgb variable fillstyle {} border",
        block(bars.block), in_quotes(bars.name), bars.hatched ? "transparent pattern 4" : "solid 0.85"));
  }

  std::string file_;
  const Panel& panel_;
  std::vector<std::string> parts_;
};

std::string panel_text(const Chart& chart, const Panel& panel) {
  std::string out;
  if (chart.panels.size() != 1)
    out += fmt::format(
        "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\n"
        "set tmargin at screen {}\nset title {}\n",
        panel.frame.left, panel.frame.right, panel.frame.bottom, panel.frame.top,
        in_quotes(literal(panel.title)));
  else
    out += "set title " + title_text(chart) + "\n";
  out += axis_text("x", panel.x, &panel == &chart.panels.back() ? chart.caption : "");
  out += axis_text("y", panel.y, "");
  out += panel.key == KeyPlace::kNone
             ? "unset key\n"
             : fmt::format("set key {}{} Left reverse noenhanced samplen 2.5 spacing 1.3 width 1\n",
                           kKeys[static_cast<std::size_t>(panel.key)],
                           chart.panels.size() > 1 ? " maxcols 1" : "");
  if (!std::isnan(panel.bound))
    out += fmt::format(
        "set object rectangle from graph 0, graph 0 to graph 1, first {:.3g} behind "
        "fillcolor rgb '{}' fillstyle transparent solid 0.12 noborder\n",
        panel.bound, kGrey);
  return out + PlotCommand(chart.name + ".tsv", panel).text();
}

/// Returns the width of the figure in pixels of the SVG.
std::size_t width_of(const Chart& chart) {
  if (chart.panels.size() != 1 || chart.panels[0].key != KeyPlace::kOutside) return kWidth;
  std::size_t longest = kKeyRoom;
  for (const Curve& curve : chart.panels[0].curves) longest = std::max(longest, curve.title.size());
  return kWidth + (longest - kKeyRoom) * kKeyCharacter;
}

// ---- files

/// Runs `gnuplot SCRIPT` in the folder. gnuplot is killed if this process ends, so that it writes nothing
/// afterwards.
void run_gnuplot(const fs::path& folder, const std::string& script) {
  const fs::path log = fs::absolute(folder / "gnuplot.log");
  try {
    Process gnuplot({.command = {"gnuplot", script}, .environment = {kLocale}, .folder = folder, .log = log});
    while (!gnuplot.wait_for(std::chrono::seconds(1))) {
    }
    if (gnuplot.end().exit_status == 0) return;
  } catch (const Error& error) {
    throw Error(fmt::format("cannot draw figures: {} (Debian package gnuplot-nox; scripts/install-deps)",
                            error.what()));
  }
  throw Error(fmt::format("gnuplot failed on {}: {}", script, text_of(log)));
}

void rename_into(const fs::path& from, const fs::path& folder) {
  std::error_code error;
  fs::rename(from, folder / from.filename(), error);
  if (error) throw Error("cannot write " + (folder / from.filename()).string() + ": " + error.message());
}

}  // namespace

std::string gnuplot_script(const Chart& chart) {
  std::string out = fmt::format("# Draws {0}.svg, .pdf and .png from {0}.tsv: gnuplot {0}.gp\n", chart.name);
  // In a locale without UTF-8, gnuplot warns about `set encoding utf8`, but needs it for Greek letters.
  out += fmt::format(
      "if (system('locale charmap 2>/dev/null') ne 'UTF-8' && system('{0} locale charmap') eq 'UTF-8') {{\n"
      "  system('{0} gnuplot {1}.gp')\n"
      "  exit status GPVAL_SYSTEM_ERRNO\n"
      "}}\n",
      kLocale, chart.name);
  out +=
      "set encoding utf8\n"
      "set datafile separator \"\\t\"\n"
      "set border 3 linewidth 1.2\n"
      "set tics nomirror out\n"
      "set grid xtics ytics linetype 1 linecolor rgb '#E3E3E3' linewidth 1\n";
  std::string panels;
  for (const Panel& panel : chart.panels) panels += panel_text(chart, panel);
  const bool several = chart.panels.size() != 1;
  if (several) panels = "set multiplot title " + title_text(chart) + "\n" + panels + "unset multiplot\n";
  struct Terminal {
    const char *extension, *type, *unit, *look;
    double scale;  // units per pixel of the SVG
  };
  const std::array<Terminal, 3> terminals = {
      {{"svg", "svg", "", "dynamic font 'DejaVu Sans,16' background rgb 'white'", 1.0},
       {"pdf", "pdfcairo", "cm", "font 'DejaVu Sans,11'", 18.0 / kWidth},
       {"png", "pngcairo", "", "font 'DejaVu Sans,18' linewidth 1.5", 1.5}}};
  for (const auto& [extension, type, unit, look, scale] : terminals) {
    out += fmt::format("\nset terminal {0} enhanced size {3:g}{1},{4:g}{1} {2}\nset output {5}\n{6}", type,
                       unit, look, scale * static_cast<double>(width_of(chart)), scale * kHeight,
                       in_quotes(chart.name + "." + extension), panels);
    if (!several) panels = "replot\n";
  }
  return out + "set output\n";
}

std::vector<fs::path> draw_all(const std::vector<Chart>& charts, const fs::path& folder) {
  std::vector<fs::path> drawn;
  for (const Chart& chart : charts) {
    const ScratchFolder scratch(folder / fmt::format(".drawing-{}", getpid()));
    for (const auto& [extension, text] :
         {std::pair{".gp", gnuplot_script(chart)}, std::pair{".tsv", chart.data_text()}})
      for (const fs::path& place : {scratch.path, folder})
        write_file_atomically(place / (chart.name + extension), text);
    run_gnuplot(scratch.path, chart.name + ".gp");
    for (const char* extension : {".svg", ".pdf", ".png"})
      rename_into(scratch.path / (chart.name + extension), folder);
    drawn.push_back(folder / (chart.name + ".png"));
  }
  return drawn;
}

}  // namespace proxbench
