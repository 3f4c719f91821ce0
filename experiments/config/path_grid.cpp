#include "experiments/config/path_grid.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/config/ini.h"

namespace proxbench {
namespace {

constexpr std::string_view kOpen = "path(", kMax = "max";
constexpr std::int64_t kMostPoints = 10000;
const char* form(PathOf of) {
  return of == PathOf::kMu ? "path(START, END, COUNT), e.g. path(10, 0.1, 20)"
                           : "path(START, END, COUNT), e.g. path(max, 50, 50), path(max, 0.01*max, 50) or "
                             "path(100, 0.01, 50)";
}

bool parse_end(std::string_view text, PathGrid::End& end) {
  end = {1.0, text.ends_with(kMax)};
  if (text == kMax) return true;
  if (end.of_max) {
    text = trim(text.substr(0, text.size() - kMax.size()));
    if (!text.ends_with('*')) return false;
    text = trim(text.substr(0, text.size() - 1));
  }
  return parse_real(text, end.value) && end.value > 0.0;
}

std::string end_text(const PathGrid::End& end, const char* times) {
  if (!end.of_max) return fmt::format("{}", end.value);
  return end.value == 1.0 ? std::string(kMax) : fmt::format("{}{}{}", end.value, times, kMax);
}

double resolved(const PathGrid::End& end, double lambda_max) {
  return end.of_max ? end.value * lambda_max : end.value;
}

}  // namespace

const char* path_of_name(PathOf of) {
  return of == PathOf::kMu ? "mu" : "lambda";
}

std::string PathGrid::text() const {
  if (!is_path()) return number_as_written(start.value);
  return fmt::format("path({}, {}, {})", end_text(start, "*"), end_text(end, "*"), count);
}

std::string PathGrid::file_text() const {
  return fmt::format("{}path-{}-{}-{}", of == PathOf::kMu ? "mu-" : "", end_text(start, ""),
                     end_text(end, ""), count);
}

std::vector<double> PathGrid::values(double lambda_max) const {
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

Penalty PathGrid::penalty(double value, double fixed) const {
  return of == PathOf::kMu ? Penalty{fixed, value} : Penalty{value, fixed};
}

std::vector<Penalty> PathGrid::penalties(double fixed, double lambda_max) const {
  std::vector<Penalty> out;
  for (const double value : values(lambda_max)) out.push_back(penalty(value, fixed));
  return out;
}

std::vector<GridPenalty> grid_of(const std::vector<PathGrid>& lambdas, const std::vector<PathGrid>& mus) {
  std::vector<GridPenalty> out;
  for (const PathGrid& lambda : lambdas)
    for (const PathGrid& mu : mus) {
      if (!lambda.is_path() || !mu.is_path()) {
        out.push_back({lambda, mu});
        continue;
      }
      for (const double value : mu.values(0.0))
        out.push_back({lambda, {.start = {value}, .of = PathOf::kMu}});
    }
  return out;
}

bool looks_like_path(std::string_view text) {
  return text == kOpen.substr(0, kOpen.size() - 1) || text.starts_with(kOpen);
}

PathGrid parse_path(std::string_view text, PathOf of) {
  PathGrid grid{.of = of};
  if (!text.starts_with(kOpen) || !text.ends_with(')'))
    throw ValueError(fmt::format("found '{}', expected {}", text, form(of)));
  const std::vector<ListPart> parts = list_parts(text.substr(kOpen.size(), text.size() - kOpen.size() - 1));
  if (parts.size() != 3)
    throw ValueError(fmt::format("found '{}' with {} value{}, expected {}", text, parts.size(),
                                 parts.size() == 1 ? "" : "s", form(of)));
  const auto reject = [&](std::size_t part, const std::string& what) {
    throw ValueError(what, kOpen.size() + parts[part].offset);
  };
  for (const std::size_t i : {0u, 1u}) {
    PathGrid::End& end = i == 0 ? grid.start : grid.end;
    if (!parse_end(parts[i].text, end) || (of == PathOf::kMu && end.of_max))
      reject(i, fmt::format("found '{}' as {} of a path over {}, expected a {}", parts[i].text,
                            i == 0 ? "START" : "END", path_of_name(of),
                            of == PathOf::kMu ? "number, e.g. path(10, 0.1, 20)"
                                              : "real above 0, max, or R*max with R above 0"));
  }
  std::int64_t count = 0;
  if (!parse_integer(parts[2].text, count) || count < 2 || count > kMostPoints)
    reject(2, fmt::format("found '{}' as COUNT of a path, expected an integer, 2 <= COUNT <= {}",
                          parts[2].text, kMostPoints));
  grid.count = static_cast<int>(count);
  if (grid.start.of_max == grid.end.of_max && !(grid.start.value > grid.end.value))
    reject(1, fmt::format("found END = {} of a path from {}, expected less: paths go from the largest {} "
                          "down",
                          parts[1].text, parts[0].text, path_of_name(of)));
  return grid;
}

std::string number_as_written(double value) {
  std::string text = fmt::format("{}", value);
  if (const std::size_t zero = text.find("e-0"); zero != text.npos) text.erase(zero + 2, 1);
  return text;
}

}  // namespace proxbench
