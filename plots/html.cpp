#include "plots/html.h"

#include <fmt/format.h>

#include <cctype>

#include "experiments/base/files.h"
#include "experiments/base/text.h"

namespace proxbench {

namespace fs = std::filesystem;

std::string percent_encoded(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    if (std::isalnum(static_cast<unsigned char>(c)) ||
        std::string_view("-_.~/").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string links_html(const std::vector<fs::path>& files, const fs::path& page_folder) {
  std::vector<std::string> out;
  for (const fs::path& file : files)
    if (fs::is_regular_file(file))
      out.push_back(fmt::format("<a href=\"{}\">{}</a>",
                                percent_encoded(fs::weakly_canonical(file)
                                                    .lexically_proximate(fs::weakly_canonical(page_folder))
                                                    .generic_string()),
                                html_text(file.filename().string())));
  return fmt::format("{}", fmt::join(out, " · "));
}

std::string scroll_html(const std::string& label, const std::string& inside) {
  return fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
                     html_text(label), inside);
}

std::string table_html(const TextTable& table) {
  std::string out = fmt::format("<h3>{}</h3>\n", html_text(table.caption));
  for (const std::string& note : table.notes) out += fmt::format("<p>{}</p>\n", html_text(note));
  out += scroll_html(table.caption, html_grid(table));
  for (const std::string& note : table.footnotes) out += fmt::format("<p>{}</p>\n", html_text(note));
  return out;
}

std::string details_html(const std::string& summary, const std::string& inside, const char* attributes) {
  return fmt::format("<details{}>\n<summary>{}</summary>\n{}</details>\n", attributes, html_text(summary),
                     inside);
}

std::string json_in_html(const nlohmann::json& data) {
  return replaced(data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), {{'<', "\\u003c"}});
}

}  // namespace proxbench
