#include "plots/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

/// An axis with fewer ticks than this cannot be read.
constexpr std::size_t kFewestTicks = 3;
/// The rank of the powers of ten that have no smaller rank.
constexpr int kPowersOfTen = 3;
/// Labels between these values are written out.
constexpr double kLeastWrittenOut = 1e-4, kMostWrittenOut = 1e7;

/// Returns digits * 10^exponent, rounded once.
double decimal(double digits, int exponent) {
  const double power = std::pow(10.0, std::abs(exponent));
  return exponent < 0 ? digits / power : digits * power;
}

/// Returns e.g. "0.25", "1,500" or "2×10⁻⁴".
std::string tick_label(double tick, bool written_out) {
  if (written_out)
    return tick == std::floor(tick) ? with_commas(std::llround(tick)) : fmt::format("{}", tick);
  constexpr std::array<const char*, 10> kRaised = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const std::string text = fmt::format("{:.9e}", tick);
  const std::size_t e = text.find('e');
  const std::string digits = text.substr(0, text.find_last_not_of(".0", e - 1) + 1);
  const int exponent = std::stoi(text.substr(e + 1));
  std::string out = (digits == "1" ? "10" : digits + "×10") + (exponent < 0 ? "⁻" : "");
  for (const char digit : std::to_string(std::abs(exponent)))
    out += kRaised[static_cast<std::size_t>(digit - '0')];
  return out;
}

bool inside(const AxisRange& range, double tick) {
  return range.min <= tick && tick <= range.max;
}

/// The smallest distance of the form 1, 2 or 5 times a power of ten that divides the range into at most eight
/// steps.
struct TickStep {
  int digits, exponent;
  double times(double i) const { return decimal(i * digits, exponent); }
};
TickStep step_of(const AxisRange& range) {
  const double least = (range.max - range.min) / 8.0;
  TickStep step{1, static_cast<int>(std::floor(std::log10(least)))};
  for (const int larger : {2, 5, 10})
    if (step.times(1.0) < least) step.digits = larger;
  return step;
}

bool written_out(const AxisRange& range) {
  return range.min >= kLeastWrittenOut && range.max < kMostWrittenOut;
}

}  // namespace

LineStyle line_style(std::size_t place, std::size_t variant) {
  const std::size_t round = place / kColours.size() + variant;
  return {kColours[place % kColours.size()], round % kDashes, (place + round) % kSymbols};
}

void AxisRange::add(double x) {
  min = std::min(min, x);
  max = std::max(max, x);
}

const std::vector<Tick>& log_ticks() {
  static const std::vector<Tick> all = [] {
    constexpr int kFurthest = 22;
    std::vector<Tick> ticks;
    for (int exponent = -kFurthest; exponent <= kFurthest; ++exponent)
      for (const int digit : {1, 2, 3, 4, 5, 6, 8}) {
        int rank = digit == 1 ? kPowersOfTen : kPowersOfTen + (digit == 2 || digit == 5 ? 1 : 2);
        for (const int coarse : {2, 4, 8}) rank -= digit == 1 && exponent % coarse == 0;
        const double tick = decimal(digit, exponent);
        ticks.push_back({tick, tick_label(tick, written_out({tick, tick})), rank});
      }
    return ticks;
  }();
  return all;
}

Axis log_axis(const std::string& label, const AxisRange& range, std::size_t most_labels) {
  Axis axis{.label = label, .range = range, .log = true};
  for (int rank = kPowersOfTen + 2; rank >= 0; --rank) {
    axis.ticks.clear();
    for (const Tick& tick : log_ticks())
      if (tick.rank <= rank && inside(range, tick.at))
        axis.ticks.push_back({tick.at, tick_label(tick.at, written_out(range))});
    if (axis.ticks.size() <= most_labels) break;
  }
  if (axis.ticks.size() < kFewestTicks && range.max < 10.0 * range.min)
    axis.ticks = linear_axis(label, range).ticks;
  return axis;
}

Axis linear_axis(const std::string& label, const AxisRange& range) {
  Axis axis{.label = label, .range = range};
  if (range.empty()) return axis;
  const TickStep step = step_of(range);
  const bool plain = std::max(std::abs(range.min), std::abs(range.max)) < kMostWrittenOut &&
                     step.times(1.0) >= kLeastWrittenOut;
  for (double i = std::ceil(range.min / step.times(1.0) - 1e-9); step.times(i) <= range.max; ++i)
    if (inside(range, step.times(i)))
      axis.ticks.push_back({step.times(i), tick_label(step.times(i), plain || i == 0.0)});
  return axis;
}

AxisRange out_to_ticks(const AxisRange& range) {
  if (range.empty()) return range;
  AxisRange wide = range;
  if (wide.max - wide.min <= 1e-12 * std::max(std::abs(wide.min), std::abs(wide.max))) {
    const double margin = wide.max == 0.0 ? 1.0 : 0.01 * std::abs(wide.max);
    wide = {wide.min - margin, wide.max + margin};
  }
  const TickStep step = step_of(wide);
  return {step.times(std::floor(wide.min / step.times(1.0))),
          step.times(std::ceil(wide.max / step.times(1.0)))};
}

void Chart::add(Curve curve, DataBlock block) {
  curve.block = blocks.size();
  panels.front().curves.push_back(std::move(curve));
  blocks.push_back(std::move(block));
}

AxisRange Chart::range(int column, bool log) const {
  AxisRange out;
  for (const DataBlock& block : blocks)
    for (const std::vector<double>& row : block.rows)
      if (const double x = row[static_cast<std::size_t>(column) - 1 - block.names.size()];
          std::isfinite(x) && (!log || x > 0.0))
        out.add(x);
  return out;
}

std::string Chart::data_text() const {
  const std::string header = fmt::format("{}\n", fmt::join(columns, "\t"));
  std::string out = header;
  for (const DataBlock& block : blocks) {
    if (!block.goes_on && &block != &blocks.front()) out += "\n\n" + (repeat_header ? header : "");
    for (const std::vector<double>& row : block.rows) {
      std::vector<std::string> fields;
      // A quote would begin a string, in which separators do not count.
      for (const std::string& text : block.names)
        fields.push_back(replaced(text, {{'\t', " "}, {'\n', " "}, {'\r', " "}, {'"', " "}}));
      for (const double x : row) fields.push_back(std::isfinite(x) ? fmt::format("{}", x) : "");
      fields.resize(columns.size());
      out += fmt::format("{}\n", fmt::join(fields, "\t"));
    }
  }
  return out + (repeat_header ? "\n\n" : "");
}

std::string with_commas(std::int64_t n) {
  std::string out = std::to_string(n);
  for (std::ptrdiff_t i = std::ssize(out) - 3; i > 0; i -= 3) out.insert(static_cast<std::size_t>(i), ",");
  return out;
}

bool says_synthetic(const std::string& description) {
  return strcasestr(description.c_str(), "synthetic") != nullptr;
}

std::string data_warnings(const std::string& description, bool comparable) {
  return std::string(says_synthetic(description) ? "SYNTHETIC DATA: " : "") +
         (comparable ? "" : "NOT COMPARABLE: ");
}

void require_drawable(const std::vector<Run>& runs, const std::vector<std::string>& x,
                      bool allow_not_comparable) {
  if (runs.empty()) throw Error::usage("no runs to draw");
  if (contains(x, "seconds") && !allow_not_comparable)
    require_comparable(runs, "--allow-not-comparable, or x without seconds");
}

std::string penalty_symbols(const RunParameters& run) {
  RunParameters shown = run;
  for (double* weight : {&shown.lambda, &shown.mu}) *weight = std::stod(fmt::format("{:.6g}", *weight));
  std::string text = penalty_text(shown);
  for (const auto& [name, symbol] : {std::pair<std::string, const char*>{"lambda", "λ"}, {"mu", "μ"}})
    if (const std::size_t at = text.find(name); at != std::string::npos)
      text.replace(at, name.size(), symbol);
  return text;
}

}  // namespace proxbench
