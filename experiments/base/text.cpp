#include "experiments/base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "core/base/error.h"

namespace proxbench {

std::string_view trim(std::string_view text, std::string_view space) {
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  return text.substr(0, text.find_last_not_of(space) + 1);
}

std::string_view take_word(std::string_view& text) {
  // Compares characters directly: find_first_of() with several characters makes a call for each character.
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto begin = std::ranges::find_if_not(text, is_blank);
  const auto end = std::find_if(begin, text.end(), is_blank);
  text = {end, text.end()};
  return {begin, end};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for_each_part(text, separator, [&](std::string_view part) { out.push_back(part); });
  return out;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) out.push_back(word);
  return out;
}

std::vector<std::string> last_lines(std::string_view text, std::size_t most) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::string> out;
  while (out.size() < most && !(text = trim(text, kSpace)).empty()) {
    const std::size_t begin = text.find_last_of('\n') + 1;
    out.emplace(out.begin(), trim(text.substr(begin), kSpace));
    text = text.substr(0, begin);
  }
  return out;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text.size() > kLongest ? out + "..." : out;
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", printable(text));
}

std::string text_down(double x, int digits) {
  std::string text = fmt::format("{:.{}g}", x, digits);
  if (!std::isfinite(x)) return text;
  // Subtracts one unit of the last digit until the decimal number is not above x. One step is enough, except
  // for ties and for numbers that move to a lower power of ten.
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(x))) - digits + 1);
  for (int step = 1; std::strtold(text.c_str(), nullptr) > static_cast<long double>(x); ++step)
    text = fmt::format("{:.{}g}", x - 0.5 * step * unit, digits);
  return text;
}

std::string text_up(double x, int digits) {
  const std::string text = text_down(-x, digits);
  return text.starts_with('-') ? text.substr(1) : std::isnan(x) ? text : x == 0.0 ? text : "-" + text;
}

std::string digest_text(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

void to_lowercase(std::string& text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
}

std::string replaced(std::string_view text, const std::map<char, const char*>& by) {
  std::string out;
  for (const char c : text)
    if (const auto found = by.find(c); found != by.end())
      out += found->second;
    else
      out += c;
  return out;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace proxbench
