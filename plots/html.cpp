#include "plots/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "experiments/base/files.h"

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

namespace {

/// The path of a file as a link from a page in the folder.
std::string relative_url(const fs::path& file, const fs::path& folder) {
  return percent_encoded(
      fs::weakly_canonical(file).lexically_proximate(fs::weakly_canonical(folder)).generic_string());
}

}  // namespace

std::string links_html(const fs::path& in, const std::vector<std::string>& names,
                       const fs::path& page_folder) {
  std::vector<std::string> out;
  for (const std::string& name : names)
    if (fs::exists(in / name))
      out.push_back(
          fmt::format("<a href=\"{}\">{}</a>", relative_url(in / name, page_folder), html_text(name)));
  return fmt::format("{}", fmt::join(out, " · "));
}

std::vector<std::string> files_in(const fs::path& folder, const std::string& begin, const std::string& end) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (const std::string name = entry.path().filename().string();
        name.starts_with(begin) && name.ends_with(end) && entry.is_regular_file())
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
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

std::string json_text(const nlohmann::json& data) {
  return data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_in_html(const nlohmann::json& data) {
  std::string out;
  for (const char c : json_text(data)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace proxbench
