#include "experiments/results/path_file.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/files.h"
#include "experiments/config/ini.h"

namespace proxbench {
namespace {

/// The columns of path.csv, in order.
struct PathColumn {
  const char* name;
  std::string (*text)(const PathPoint&);
  bool (*set)(PathPoint&, const std::string&);
};

std::string field_text(double value) {
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

bool set_real(double& out, const std::string& text) {
  out = std::numeric_limits<double>::quiet_NaN();
  return text.empty() || parse_real(text, out);
}
template <class Count>
bool set_count(Count& out, const std::string& text) {
  std::int64_t value = 0;
  if (!parse_integer(text, value) || value < 0) return false;
  out = static_cast<Count>(value);
  return true;
}
bool set_status(Status& out, const std::string& text) {
  for (const Status status :
       {Status::kConverged, Status::kGapReached, Status::kStalled, Status::kMaxIterations})
    if (text == status_name(status)) {
      out = status;
      return true;
    }
  return false;
}

template <auto member>
PathColumn real_column(const char* name) {
  return {name, [](const PathPoint& p) { return field_text(p.*member); },
          [](PathPoint& p, const std::string& text) { return set_real(p.*member, text); }};
}
template <auto member>
PathColumn certificate_column(const char* name) {
  return {name, [](const PathPoint& p) { return field_text(p.certificate.*member); },
          [](PathPoint& p, const std::string& text) { return set_real(p.certificate.*member, text); }};
}
template <auto member>
PathColumn count_column(const char* name) {
  return {name, [](const PathPoint& p) { return std::to_string(p.*member); },
          [](PathPoint& p, const std::string& text) { return set_count(p.*member, text); }};
}

const std::vector<PathColumn>& path_columns() {
  static const std::vector<PathColumn> all = {
      real_column<&PathPoint::lambda>("lambda"),
      certificate_column<&Certificate::objective>("objective"),
      certificate_column<&Certificate::loss>("loss"),
      certificate_column<&Certificate::l1>("l1"),
      {"nnz", [](const PathPoint& p) { return std::to_string(p.certificate.nnz); },
       [](PathPoint& p, const std::string& text) { return set_count(p.certificate.nnz, text); }},
      certificate_column<&Certificate::kkt>("kkt"),
      real_column<&PathPoint::kkt_target>("kkt_target"),
      certificate_column<&Certificate::dual>("dual"),
      // Follows from two others.
      {"gap", [](const PathPoint& p) { return field_text(p.certificate.gap()); },
       [](PathPoint&, const std::string& text) {
         double ignored = 0.0;
         return set_real(ignored, text);
       }},
      real_column<&PathPoint::seconds>("seconds"),
      real_column<&PathPoint::cpu_seconds>("cpu_seconds"),
      count_column<&PathPoint::iterations>("iterations"),
      real_column<&PathPoint::passes>("passes"),
      count_column<&PathPoint::candidates>("candidates"),
      count_column<&PathPoint::violations>("violations"),
      count_column<&PathPoint::rounds>("rounds"),
      real_column<&PathPoint::test_accuracy>("test_accuracy"),
      {"status", [](const PathPoint& p) { return std::string(status_name(p.status)); },
       [](PathPoint& p, const std::string& text) { return set_status(p.status, text); }},
  };
  return all;
}

PathPoint parse_path_line(const std::string& line, const std::filesystem::path& file, std::uint64_t number) {
  const std::vector<std::string> fields = split_list(line);
  if (fields.size() != path_columns().size() + 1)
    throw Error::in_file(file.string(), number, std::to_string(fields.size()) + " fields",
                         std::to_string(path_columns().size() + 1));
  PathPoint point;
  for (std::size_t i = 0; i < path_columns().size(); ++i)
    if (!path_columns()[i].set(point, fields[i + 1]))
      throw Error::in_file(file.string(), number, fmt::format("{} '{}'", path_columns()[i].name, fields[i + 1]),
                           "a value of a path");
  return point;
}

}  // namespace

std::string path_header() {
  std::string out = "point";
  for (const PathColumn& column : path_columns()) out += fmt::format(",{}", column.name);
  return out;
}

std::string path_line(std::size_t number, const PathPoint& point) {
  std::string out = std::to_string(number);
  for (const PathColumn& column : path_columns()) out += fmt::format(",{}", column.text(point));
  return out;
}

std::vector<PathPoint> read_path_file(const std::filesystem::path& file) {
  std::string text = read_file(file, "a stored path");
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  std::istringstream in(text);
  std::string line;
  std::uint64_t number = 1;
  if (!std::getline(in, line) || line != path_header())
    throw Error::in_file(file.string(), 1, fmt::format("'{}'", line), fmt::format("'{}'", path_header()));
  std::vector<PathPoint> points;
  while (std::getline(in, line)) points.push_back(parse_path_line(line, file, ++number));
  return points;
}

}  // namespace proxbench
