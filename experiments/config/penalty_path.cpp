#include "experiments/config/penalty_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/base/error.h"
#include "experiments/config/ini.h"
#include "experiments/config/ini_values.h"

namespace proxbench {
namespace {

constexpr std::string_view kOpen = "path(", kMax = "max", kMu = "mu";
constexpr std::int64_t kMostPoints = 10000;

const char* form(std::string_view name) {
  return name == kMu ? "path(START, END, COUNT), e.g. path(10, 0.1, 20)"
                     : "path(START, END, COUNT), e.g. path(max, 50, 50), path(max, 0.01*max, 50) or "
                       "path(100, 0.01, 50)";
}

bool parse_end(std::string_view text, PenaltyPath::End& end) {
  end = {1.0, text.ends_with(kMax)};
  if (text == kMax) return true;
  if (end.of_max) {
    text = trim(text.substr(0, text.size() - kMax.size()));
    if (!text.ends_with('*')) return false;
    text = trim(text.substr(0, text.size() - 1));
  }
  return parse_real(text, end.value) && end.value > 0.0;
}

std::string end_text(const PenaltyPath::End& end, const char* times) {
  if (!end.of_max) return fmt::format("{}", end.value);
  return end.value == 1.0 ? std::string(kMax) : fmt::format("{}{}{}", end.value, times, kMax);
}

double resolved(const PenaltyPath::End& end, double lambda_max) {
  return end.of_max ? end.value * lambda_max : end.value;
}

}  // namespace

std::string PenaltyPath::text() const {
  return fmt::format("path({}, {}, {})", end_text(start, "*"), end_text(end, "*"), count);
}

std::string PenaltyPath::file_text() const {
  return fmt::format("path-{}-{}-{}", end_text(start, ""), end_text(end, ""), count);
}

std::vector<double> PenaltyPath::values(double lambda_max) const {
  const double first = resolved(start, lambda_max), last = resolved(end, lambda_max);
  if (!(first > last && last > 0.0))
    throw Error::usage(
        fmt::format("{}: with lambda_max = {} it would go from {} down to {}, expected a path "
                    "that ends above 0 and below its start",
                    text(), lambda_max, first, last));
  std::vector<double> out{first};
  for (int i = 1; i + 1 < count; ++i)
    out.push_back(first * std::pow(last / first, static_cast<double>(i) / (count - 1)));
  out.push_back(last);
  return out;
}

PenaltyPath PenaltyPath::from_value(const Value& value) {
  return parse_path(value.as<std::string>(), "lambda");
}

double PenaltyList::largest() const {
  double out = paths.empty() ? 0.0 : 1.0;
  for (const double number : numbers) out = std::max(out, number);
  return out;
}

std::vector<double> PenaltyList::values(double lambda_max) const {
  std::set<double, std::greater<>> out(numbers.begin(), numbers.end());
  for (const PenaltyPath& path : paths)
    for (const double value : path.values(lambda_max)) out.insert(value);
  if (out.empty()) out.insert(0.0);
  return {out.begin(), out.end()};
}

Value PenaltyList::to_value() const {
  Value::List out;
  for (const double number : numbers) out.push_back({number});
  for (const PenaltyPath& path : paths) out.push_back(path.to_value());
  return {std::move(out)};
}

PenaltyList PenaltyList::from_value(const Value& value) {
  PenaltyList out;
  for (const Value& one : value.as<Value::List>())
    if (one.get_if<std::string>())
      out.paths.push_back(PenaltyPath::from_value(one));
    else
      out.numbers.push_back(one.number<double>());
  return out;
}

std::string RunPenalty::file_text() const {
  if (std::isnan(penalty.mu)) return fmt::format("lambda{}-mu-{}", penalty.lambda, path->file_text());
  const std::string first = path ? path->file_text() : fmt::format("lambda{}", penalty.lambda);
  return penalty.mu > 0.0 ? fmt::format("{}-mu{}", first, penalty.mu) : first;
}

std::vector<Penalty> RunPenalty::penalties(double lambda_max) const {
  std::vector<Penalty> out;
  for (const double value : path->values(lambda_max))
    out.push_back(std::isnan(penalty.mu) ? Penalty{penalty.lambda, value} : Penalty{value, penalty.mu});
  return out;
}

std::vector<RunPenalty> PenaltyGrid::penalties() const {
  std::vector<RunPenalty> out;
  for (const double lambda : lambdas.numbers) {
    for (const double mu : mus.numbers) out.push_back({{lambda, mu}});
    for (const PenaltyPath& path : mus.paths) out.push_back({{lambda, kNaN}, path});
  }
  for (const PenaltyPath& path : lambdas.paths)
    for (const double mu : mus.values(0.0)) out.push_back({{kNaN, mu}, path});
  return out;
}

std::vector<std::vector<Penalty>> PenaltyGrid::paths(double lambda_max) const {
  const std::vector<double> all_lambdas = lambdas.values(lambda_max), all_mus = mus.values(lambda_max);
  std::vector<std::vector<Penalty>> out;
  for (const double mu : all_mus) {
    if (out.empty() || !over_mu()) out.emplace_back();
    for (const double lambda : all_lambdas) out.back().push_back({lambda, mu});
  }
  for (const std::vector<Penalty>& path : out)
    for (const Penalty& penalty : path) penalty.check();
  return out;
}

bool looks_like_path(std::string_view text) {
  return text == kOpen.substr(0, kOpen.size() - 1) || text.starts_with(kOpen);
}

PenaltyPath parse_path(std::string_view text, std::string_view name) {
  PenaltyPath path;
  if (!text.starts_with(kOpen) || !text.ends_with(')'))
    throw ValueError(fmt::format("found '{}', expected {}", text, form(name)));
  const std::vector<ListPart> parts = list_parts(text.substr(kOpen.size(), text.size() - kOpen.size() - 1));
  if (parts.size() != 3)
    throw ValueError(fmt::format("found '{}' with {} value{}, expected {}", text, parts.size(),
                                 parts.size() == 1 ? "" : "s", form(name)));
  const auto reject = [&](std::size_t part, const std::string& what) {
    throw ValueError(what, kOpen.size() + parts[part].offset);
  };
  for (const std::size_t i : {0u, 1u}) {
    PenaltyPath::End& end = i == 0 ? path.start : path.end;
    if (!parse_end(parts[i].text, end) || (name == kMu && end.of_max))
      reject(i, fmt::format("found '{}' as {} of a path over {}, expected a {}", parts[i].text,
                            i == 0 ? "START" : "END", name,
                            name == kMu ? "number, e.g. path(10, 0.1, 20)"
                                        : "real above 0, max, or R*max with R above 0"));
  }
  std::int64_t count = 0;
  if (!parse_integer(parts[2].text, count) || count < 2 || count > kMostPoints)
    reject(2, fmt::format("found '{}' as COUNT of a path, expected an integer, 2 <= COUNT <= {}",
                          parts[2].text, kMostPoints));
  path.count = static_cast<int>(count);
  if (path.start.of_max == path.end.of_max && !(path.start.value > path.end.value))
    reject(1, fmt::format("found END = {} of a path from {}, expected less: paths go from the largest {} "
                          "down",
                          parts[1].text, parts[0].text, name));
  return path;
}

}  // namespace proxbench
