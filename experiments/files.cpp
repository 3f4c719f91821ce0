#include "experiments/files.h"

#include <fstream>
#include <sstream>

#include "experiments/results.h"

namespace proxbench {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

nlohmann::ordered_json json_of(const std::filesystem::path& file) {
  nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(text_of(file), nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? nlohmann::ordered_json() : json;
}

void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json) {
  write_file_atomically(file,
                        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace proxbench
