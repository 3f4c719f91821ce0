#pragma once
/// What all figures share: colours, text in gnuplot's language, and the five files of one figure.

#include <filesystem>
#include <string>
#include <vector>

namespace proxbench {

/// How the line of the solver in this place is drawn: colours first, then dashes. `variant` tells lines of
/// one solver apart, e.g. by machine.
struct LineStyle {
  const char* colour;
  int dash_type, point_type;
};
LineStyle line_style(std::size_t place, std::size_t variant = 0);

/// A gnuplot string constant; single quotes, in which gnuplot substitutes nothing.
std::string gnuplot_quoted(const std::string& text);
/// The text with the marks of gnuplot's enhanced mode made literal.
std::string gnuplot_literal(const std::string& text);
/// Lines of small print in enhanced mode, each after a line break; wrapped at newlines and spaces.
std::string small_lines(const std::string& text);
/// A field of a .tsv file that gnuplot reads.
std::string tsv_field(const std::string& text);
std::string tsv_number(double x);

/// Lowest and highest value of what is drawn.
struct Range {
  double min, max;
  Range();
  bool empty() const { return !(min <= max); }
  void add(double x);
  /// From min / factor to max * factor.
  Range widened(double factor) const;
};
/// Range and ticks of a log axis ("x" or "y") of base 2 or 10: ticks at powers of the base, or at round
/// numbers between them where the range, which is > 0, is short. `panels`: of so many along the figure's
/// side.
std::string log_axis(const char* axis, const Range& range, int base = 10, std::size_t panels = 1);

struct Figure {
  std::string name;     ///< of its files, without extension
  std::string title;    ///< this and the labels: in enhanced mode
  std::string x_label;  ///< with the caption below, see small_lines()
  std::string y_label;
  std::string axes;     ///< commands: ranges, ticks
  std::string plot;     ///< the plot command, which reads NAME.tsv
  bool panels = false;  ///< `plot` draws several plots (set multiplot ... unset multiplot), labels and all
  std::string data;     ///< of NAME.tsv
};

/// Writes NAME.gp, NAME.tsv, and by running gnuplot NAME.svg, .pdf and .png into the folder (made where it is
/// missing); images appear under their names only once they are whole. Returns the .png. Throws Error (kRun)
/// when gnuplot is missing or fails; script and data are kept then.
std::filesystem::path write_figure(const std::filesystem::path& folder, const Figure& figure);

}  // namespace proxbench
