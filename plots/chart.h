#pragma once
/// A figure as data: panels with axes, ticks, curves, bands and captions. Painters only draw it: gnuplot
/// (plots/gnuplot.cpp) draws the files of a figure, and web/report.js draws the page.

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "experiments/results/results.h"

namespace proxbench {

/// The colours of Okabe and Ito, which colour-blind readers can tell apart. Their yellow is too pale for
/// lines. A brown makes eight, one for each solver of the largest figure.
inline constexpr std::array<const char*, 8> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                        "#E69F00", "#56B4E9", "#000000", "#8C510A"};
inline constexpr std::size_t kDashes = 5, kSymbols = 8;

/// The style of a line. `dash` < kDashes and `symbol` < kSymbols are numbers of a painter's patterns.
struct LineStyle {
  const char* colour;
  std::size_t dash = 0, symbol = 0;
};
/// Returns the style of the solver at index `place`: colours vary first, then dashes. `variant` distinguishes
/// lines of one solver, e.g. by machine.
LineStyle line_style(std::size_t place, std::size_t variant = 0);

/// The lowest and highest value that is drawn.
struct Range {
  double min = kInfinity, max = -kInfinity;
  bool empty() const { return !(min <= max); }
  void add(double x);
  /// Returns the range from min / factor to max * factor.
  Range widened(double factor) const { return {min / factor, max * factor}; }
};

struct Tick {
  double at;
  std::string label;
};

struct Axis {
  std::string label;
  Range range;
  std::vector<Tick> ticks = {};
  bool log = false;
  bool reversed = false;  ///< whether the largest value is at the origin
};
/// The number of labels that fit along the sides of a figure.
inline constexpr std::size_t kMostLabelsX = 10, kMostLabelsY = 16;
/// A tick for log axes. Ticks of a smaller rank are farther apart.
struct RankedTick {
  Tick tick;
  int rank;
};
/// Returns the ticks of all ranks from 1e-22 to 1e22, ascending: every eighth, fourth and second power of
/// ten, all powers of ten, then round numbers between them.
const std::vector<RankedTick>& log_ticks();
/// Makes a log axis with the ticks of the largest rank that fits. If the range is short, the ticks are at
/// equal distances. The range must be > 0.
Axis log_axis(const std::string& label, const Range& range, std::size_t most_labels);
/// Makes a linear axis with three to nine ticks at equal distances.
Axis linear_axis(const std::string& label, const Range& range);
/// Extends the range to the next ticks of linear_axis(). It may be empty.
Range out_to_ticks(const Range& range);

/// A line through rows of the figure's data. Without a block it appears only in the key.
struct Curve {
  std::string title = {};  ///< in the key; empty: not listed there
  LineStyle style;
  double width = 2.0;
  std::optional<std::size_t> block = {};  ///< index of the data block, from 0
  int x = 0, y = 0;                       ///< columns, from 1
  int low = 0, high = 0;                  ///< columns of the band's edges; 0: no band
  bool steps = false;                     ///< whether each row's value holds up to the next row
  double symbol_size = 0.0;               ///< 0: no symbols
  int symbols = 0;                        ///< number of symbols along the curve; 0: one at each row
};

/// A cross at one row of a block.
struct Cross {
  std::size_t block, row;
  int x, y;
  const char* colour;
};

/// A straight line at `at`, or y = x if that is NaN.
struct Guide {
  std::string title;  ///< as for a curve
  double at;
};

/// The bars of one name from a block with the columns name, -, -, left, right, bottom, top, colour.
struct Bars {
  std::size_t block;
  std::string name;
  bool hatched;
};

/// A panel's frame, as fractions of the figure from its lower left corner.
struct Frame {
  double left, right, bottom, top;
};

struct Panel {
  Axis x = {}, y = {};
  std::string title = {};  ///< in addition to the figure's; empty if there is only one panel
  Frame frame = {};        ///< only for several panels
  std::string key = "outside right top vertical";  ///< position of the key; empty: no key
  /// Values at or below this are not drawn.
  double floor = -kInfinity;
  /// The accuracy of f*. Below it curves are faint, on a grey ground. NaN: nothing is drawn below.
  double bound = kNaN;
  std::vector<Curve> curves = {};
  std::vector<Cross> crosses = {};
  std::vector<Guide> guides = {};
  std::vector<Bars> bars = {};
};

struct Chart {
  std::string name;           ///< of its files, without extension
  std::string title;          ///< bold; begins with data_warnings()
  std::string about = {};     ///< printed after the title
  std::string subtitle = {};  ///< in small print below the title; lines end with a newline
  std::string caption = {};   ///< in small print below the lowest axis; lines end with a newline
  std::vector<Panel> panels;
  std::string data;  ///< contents of NAME.tsv
};

/// Formats a field of a .tsv file. A text loses the characters that separate fields. A number has full
/// precision, and is empty if it is not finite.
std::string tsv_field(const std::string& text);
std::string tsv_field(double x);
/// Formats a line of these fields.
template <class... Fields>
std::string tsv_line(const Fields&... fields) {
  return fmt::format("{}\n", fmt::join(std::array{tsv_field(fields)...}, "\t"));
}

/// Returns the commands that draw the chart into NAME.svg, .pdf and .png from NAME.tsv.
std::string gnuplot_script(const Chart& chart);

/// Writes NAME.gp and NAME.tsv of each chart into the folder, and runs gnuplot to make NAME.svg, .pdf and
/// .png. The folder is made if it is missing. Images appear under their names only once they are complete.
/// Returns the .png files. Throws Error (kRun) if gnuplot is missing or fails; script and data are kept then.
std::vector<std::filesystem::path> draw_all(const std::vector<Chart>& charts,
                                            const std::filesystem::path& folder);

/// Formats 215358 as "215,358".
std::string with_commas(std::int64_t n);

/// Whether a description of data says that they are synthetic.
bool says_synthetic(const std::string& description);

/// Returns the start of a title, by a description of the data: "SYNTHETIC DATA: ", "NOT COMPARABLE: ", both
/// or neither.
std::string data_warnings(const std::string& description, bool comparable = true);

/// Returns penalty_text() in symbols, e.g. "λ = 1, μ = 0.1" or "hinge, μ = 1".
std::string penalty_symbols(const RunParameters& run);

}  // namespace proxbench
