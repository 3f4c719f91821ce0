#pragma once
/// A figure as data: panels with axes, ticks, curves, bands and captions. Painters only draw it: gnuplot
/// (plots/gnuplot.h) the files of a figure, web/report.js the page.

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/numbers.h"

namespace proxbench {

/// Okabe and Ito's colours, told apart by colour-blind readers as well; their yellow is too pale for lines.
/// A brown makes eight: the solvers of the largest figure.
inline constexpr std::array<const char*, 8> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                        "#E69F00", "#56B4E9", "#000000", "#8C510A"};
inline constexpr std::size_t kDashes = 5, kSymbols = 8;

/// How a line is drawn. `dash` < kDashes and `symbol` < kSymbols number the patterns of a painter.
struct LineStyle {
  const char* colour;
  std::size_t dash = 0, symbol = 0;
};
/// The style of the solver in this place: colours first, then dashes. `variant` tells lines of one solver
/// apart, e.g. by machine.
LineStyle line_style(std::size_t place, std::size_t variant = 0);

/// Lowest and highest value of what is drawn.
struct Range {
  double min = kInfinity, max = -kInfinity;
  bool empty() const { return !(min <= max); }
  void add(double x);
  /// From min / factor to max * factor.
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
  bool reversed = false;  ///< the largest value stands at the origin
};
/// As many labels have room along the sides of a figure.
inline constexpr std::size_t kMostLabelsX = 10, kMostLabelsY = 16;
/// A tick for log axes. Those of a smaller rank stand for more of the axis.
struct RankedTick {
  Tick tick;
  int rank;
};
/// Ticks of all ranks from 1e-22 to 1e22, ascending: every eighth, fourth and second power of ten, all of
/// them, then round numbers between them.
const std::vector<RankedTick>& log_ticks();
/// The ticks of the largest rank that has room; at equal distances where the range, which is > 0, is short.
Axis log_axis(const std::string& label, const Range& range, std::size_t most_labels);
/// Three to nine ticks at equal distances.
Axis linear_axis(const std::string& label, const Range& range);
/// The range, which may be empty, out to the next ticks of linear_axis().
Range out_to_ticks(const Range& range);

/// A line through rows of the figure's data. Without a block it stands in the key alone.
struct Curve {
  std::string title = {};  ///< in the key; empty: not there
  LineStyle style;
  double width = 2.0;
  std::optional<std::size_t> block = {};  ///< of the data, from 0
  int x = 0, y = 0;                       ///< columns, from 1
  int low = 0, high = 0;                  ///< columns of its band; 0: it has none
  bool steps = false;                     ///< a row holds up to the next one
  double symbol_size = 0.0;               ///< 0: no symbols
  int symbols = 0;                        ///< so many along the curve; 0: one at each row
};

/// A cross at one row of a block.
struct Cross {
  std::size_t block, row;
  int x, y;
  const char* colour;
};

/// A straight line: y = x where `at` is NaN.
struct Guide {
  std::string title;  ///< as of a curve
  double at;
};

/// Bars from a block with the columns name, -, -, left, right, bottom, top, colour: those of one name.
struct Bars {
  std::size_t block;
  std::string name;
  bool hatched;
};

/// A panel's frame, in shares of the figure from its lower left corner.
struct Frame {
  double left, right, bottom, top;
};

struct Panel {
  Axis x = {}, y = {};
  std::string title = {};                          ///< beside the figure's; empty where there is one panel
  Frame frame = {};                                ///< where there are several
  std::string key = "outside right top vertical";  ///< where the key stands; empty: nowhere
  /// Values at or below are not drawn.
  double floor = -kInfinity;
  /// What is known of f*: below it curves are faint, on a grey ground. NaN: nothing drawn is below.
  double bound = kNaN;
  std::vector<Curve> curves = {};
  std::vector<Cross> crosses = {};
  std::vector<Guide> guides = {};
  std::vector<Bars> bars = {};
};

struct Chart {
  std::string name;           ///< of its files, without extension
  std::string title;          ///< bold; begins with data_warnings()
  std::string about = {};     ///< after the title
  std::string subtitle = {};  ///< small, below the title; lines end with a newline
  std::string caption = {};   ///< small, below the lowest axis; the same
  std::vector<Panel> panels;
  std::string data;  ///< of NAME.tsv
};

/// A field of a .tsv file: text without what separates fields, a number in full precision; nothing for one
/// that is not finite.
std::string tsv_field(const std::string& text);
std::string tsv_field(double x);
/// A line of these fields.
template <class... Fields>
std::string tsv_line(const Fields&... fields) {
  return fmt::format("{}\n", fmt::join(std::array{tsv_field(fields)...}, "\t"));
}

}  // namespace proxbench
