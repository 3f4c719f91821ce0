#pragma once
/// A figure as data: panels with axes, ticks, curves, bands and captions. gnuplot (plots/gnuplot.cpp) draws
/// it into the files of a figure. The page (plots/page_charts.h) draws charts of curves with the same texts,
/// styles, points and accuracy of f*. It finds ranges itself and chooses among log_ticks(), because its
/// reader hides curves and zooms.

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
struct AxisRange {
  double min = kInfinity, max = -kInfinity;
  bool empty() const { return !(min <= max); }
  void add(double x);
  /// Returns the range from min / factor to max * factor.
  AxisRange widened(double factor) const { return {min / factor, max * factor}; }
};

struct Tick {
  double at;
  std::string label;
  int rank = 0;  ///< ticks of a smaller rank are farther apart
};

struct Axis {
  std::string label;
  AxisRange range;
  std::vector<Tick> ticks = {};
  bool log = false;
  bool reversed = false;  ///< whether the largest value is at the origin
};
/// The number of labels that fit along the sides of a figure.
inline constexpr std::size_t kMostLabelsX = 10, kMostLabelsY = 16;
/// Returns the ticks of all ranks from 1e-22 to 1e22, ascending: every eighth, fourth and second power of
/// ten, all powers of ten, then round numbers between them.
const std::vector<Tick>& log_ticks();
/// Makes a log axis with the ticks of the largest rank that fits. If the range is short, the ticks are at
/// equal distances. The range must be > 0. An empty range has no ticks.
Axis log_axis(const std::string& label, const AxisRange& range, std::size_t most_labels);
/// Makes a linear axis with three to nine ticks at equal distances. An empty range has none.
Axis linear_axis(const std::string& label, const AxisRange& range);
/// Extends the range to the next ticks of linear_axis(), unless it is empty.
AxisRange out_to_ticks(const AxisRange& range);

/// A line through rows of the chart's data. Without a block it appears only in the key.
struct Curve {
  std::string title = {};  ///< in the key; empty: not listed there
  LineStyle style;
  double width = 2.0;
  std::optional<std::size_t> block = {};  ///< index of its rows in Chart::blocks
  int x = 0, y = 0;                       ///< columns, from 1
  int low = 0, high = 0;                  ///< columns of the band's edges; 0: no band
  bool steps = false;                     ///< whether it is drawn in steps from row to row
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

/// The bars of one name from a block and those that go on in it. Its columns are name, -, -, left, right,
/// bottom, top, colour.
struct Bars {
  std::size_t block;
  std::string name;
  bool hatched;
};

/// The position of a panel's key.
enum class KeyPlace { kNone, kOutside, kLeftTop, kLeftBottom };

/// A panel's frame, as fractions of the figure from its lower left corner.
struct Frame {
  double left, right, bottom, top;
};

struct Panel {
  Axis x = {}, y = {};
  std::string title = {};  ///< in addition to the figure's; empty if there is only one panel
  Frame frame = {};        ///< only for several panels
  KeyPlace key = KeyPlace::kOutside;
  /// Values at or below this are not drawn.
  double floor = -kInfinity;
  /// The accuracy of f*. Below it curves are faint, on a grey ground. NaN: nothing is drawn below.
  double bound = kNaN;
  std::vector<Curve> curves = {};
  std::vector<Cross> crosses = {};
  std::vector<Guide> guides = {};
  std::vector<Bars> bars = {};
};

/// Rows of the data: the same names in each, then numbers. A number that is not finite was not measured, or
/// cannot be drawn.
struct DataBlock {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows = {};
  bool goes_on = false;  ///< whether data_text() writes no blank lines before it
};

struct Chart {
  std::string name;           ///< of its files, without extension
  std::string warning = {};   ///< data_warnings(), bold before the title
  std::string title;          ///< bold
  std::string about = {};     ///< printed after the title
  std::string subtitle = {};  ///< in small print below the title; lines end with a newline
  std::string caption = {};   ///< in small print below the lowest axis; lines end with a newline
  std::vector<Panel> panels;
  std::vector<std::string> columns;  ///< of the data; the names of blocks are the first of them
  bool repeat_header = false;        ///< whether data_text() begins each block with `columns`
  std::vector<DataBlock> blocks = {};

  /// Adds a curve through the rows of a new block to the first panel.
  void add(Curve curve, DataBlock block);
  /// Returns the range of the finite numbers in a column (from 1) of all blocks. For a log axis, numbers must
  /// be > 0.
  AxisRange range(int column, bool log = false) const;
  /// Returns the contents of NAME.tsv: a header, then the blocks, separated by two blank lines. Numbers have
  /// full precision, and are empty if they are not finite. Names lose the characters that separate fields.
  std::string data_text() const;
};

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

/// Throws Error (kUsage) if there are no runs, or if seconds are among the costs `x` although timings are not
/// comparable and that is not allowed.
void require_drawable(const std::vector<Run>& runs, const std::vector<std::string>& x,
                      bool allow_not_comparable);

/// Returns penalty_text() in symbols, e.g. "λ = 1, μ = 0.1" or "hinge, μ = 1".
std::string penalty_symbols(const RunParameters& run);

}  // namespace proxbench
