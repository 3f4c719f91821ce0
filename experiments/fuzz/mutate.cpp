#include "experiments/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace proxbench {
namespace {

constexpr std::size_t kLongestPiece = 64;

struct Range {
  std::size_t begin, size;
};

Range random_range(std::string_view text, Random& random) {
  const std::size_t begin = random.below(text.size() + 1);
  return {begin, random.below(std::min(kLongestPiece, text.size() - begin) + 1)};
}

/// The run of number characters at or after a random place; empty if there is none.
Range random_number(std::string_view text, Random& random) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t begin = text.find_first_of(kDigits, random.below(text.size() + 1));
  if (begin == text.npos) return {0, 0};
  return {begin, std::min(text.find_first_not_of("0123456789.eE+-", begin), text.size()) - begin};
}

/// A random line with its line break.
Range random_line(std::string_view text, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  return {begin, std::min(text.find('\n', begin), text.size() - 1) + 1 - begin};
}

void change_byte(std::string& text, Random& random) {
  text[random.below(text.size())] = static_cast<char>(random.below(256));
}

void insert_special(std::string& text, Random& random) {
  using namespace std::string_view_literals;
  static constexpr std::array kSpecial = {"\0"sv,        "\n"sv,
                                          "\n\n"sv,      "\r\n"sv,
                                          "\t"sv,        " "sv,
                                          ":"sv,         "\\"sv,
                                          "\\\n"sv,      "="sv,
                                          ","sv,         "#"sv,
                                          ";"sv,         "["sv,
                                          "]"sv,         "-"sv,
                                          "."sv,         "%%\n"sv,
                                          "\xff"sv,      "{}"sv,
                                          "nan"sv,       "\xEF\xBB\xBF"sv,
                                          "/dev/null"sv, "\x1f\x8b\x08"sv};
  text.insert(random.below(text.size() + 1), kSpecial[random.below(kSpecial.size())]);
}

void replace_number(std::string& text, Random& random) {
  static constexpr std::array<std::string_view, 16> kNumbers = {"0",
                                                                "-1",
                                                                "+1",
                                                                "2147483648",
                                                                "4294967295",
                                                                "4294967296",
                                                                "9223372036854775807",
                                                                "-9223372036854775808",
                                                                "18446744073709551616",
                                                                "1e308",
                                                                "1e309",
                                                                "-1e308",
                                                                "5e-324",
                                                                "1e-400",
                                                                "inf",
                                                                "0x10"};
  const Range number = random_number(text, random);
  text.replace(number.begin, number.size, kNumbers[random.below(kNumbers.size())]);
}

void swap_lines(std::string& text, Random& random) {
  Range first = random_line(text, random), second = random_line(text, random);
  if (first.begin > second.begin) std::swap(first, second);
  if (first.begin == second.begin) return;
  const std::string moved = text.substr(second.begin, second.size);
  text.erase(second.begin, second.size);
  text.insert(first.begin, moved);
}

void mutate_once(const std::vector<std::string>& texts, std::string& text, Random& random) {
  if (text.empty()) text = texts[random.below(texts.size())];
  const Range range = random_range(text, random);
  switch (random.below(9)) {
    case 0:
      change_byte(text, random);
      break;
    case 1:
      insert_special(text, random);
      break;
    case 2:
      text.erase(range.begin, range.size);
      break;
    case 3:
      text.insert(range.begin, text.substr(range.begin, range.size));
      break;
    case 4:
      replace_number(text, random);
      break;
    case 5:
      swap_lines(text, random);
      break;
    case 6: {
      const Range line = random_line(text, random);
      text.erase(line.begin, line.size);
      break;
    }
    case 7:
      if (random.below(8) == 0) text.resize(range.begin);  // rare, because little text remains
      break;
    case 8: {
      const std::string& other = texts[random.below(texts.size())];
      const Range piece = random_range(other, random);
      text.insert(range.begin, other, piece.begin, piece.size);
      break;
    }
  }
}

}  // namespace

std::string mutate(const std::vector<std::string>& texts, Random& random) {
  std::string text = texts[random.below(texts.size())];
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) mutate_once(texts, text, random);
  return text;
}

std::string grow(const std::vector<std::string>& texts, std::size_t bytes, Random& random) {
  const std::string& text = texts[random.below(texts.size())];
  const Range range = random_line(text, random);
  const std::string line = text.substr(range.begin, range.size);
  const std::size_t at = random.below(line.size());
  std::string out = text.substr(0, range.begin + range.size);
  for (std::size_t i = 0; out.size() + text.size() < bytes; ++i) {
    out.append(line, 0, at);
    out += std::to_string(i);
    out.append(line, at);
  }
  return out.append(text, range.begin + range.size);
}

}  // namespace proxbench
