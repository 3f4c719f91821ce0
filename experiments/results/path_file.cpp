#include "experiments/results/path_file.h"

#include <fmt/format.h>

#include <sstream>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/field_csv.h"

namespace proxbench {

std::string path_header() {
  return "point," + csv_header(path_columns());
}

std::string path_line(std::size_t number, const PathPoint& point) {
  return fmt::format("{},{}", number, csv_line(path_columns(), point));
}

std::vector<PathPoint> read_path_file(const std::filesystem::path& file) {
  std::string text = read_file(file, "a stored path");
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  std::istringstream in(text);
  std::string line;
  std::uint64_t number = 1;
  std::getline(in, line);
  const auto behind_number = [&] { return line.substr(line.find(',') + 1); };
  check_header(path_columns(), behind_number(), file);
  std::vector<PathPoint> points;
  while (std::getline(in, line)) points.push_back(record_of(path_columns(), behind_number(), file, ++number));
  return points;
}

}  // namespace proxbench
