#include "experiments/data/sequences/token_regex.h"

#ifdef PROXBENCH_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/error.h"

namespace proxbench {

std::string pcre2_pattern(std::string_view pattern) {
  static const std::map<int, const char*> kClasses{{'a', "alpha"}, {'d', "digit"}, {'l', "lower"},
                                                   {'p', "punct"}, {'s', "space"}, {'u', "upper"},
                                                   {'w', "alnum"}};
  std::string out;
  std::size_t set_end = 0;  // within [...]: the first place where it can end; outside: 0
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    const auto letter = rest.size() > 1 ? static_cast<unsigned char>(rest[1]) : 0;
    std::string_view taken = rest.substr(0, 1);
    if (const auto known = kClasses.find(std::tolower(letter)); rest[0] == '\\' && known != kClasses.end()) {
      const std::string name = fmt::format("[:{}{}:]", std::isupper(letter) != 0 ? "^" : "", known->second);
      out += set_end > 0 ? name : "[" + name + "]";
      ++i;
      continue;
    }
    if (rest[0] == '\\')
      taken = rest.substr(0, 2);
    else if (set_end > 0 && rest.starts_with("[:"))
      taken = rest.substr(0, std::min(rest.find(":]"), rest.size() - 2) + 2);
    else if (set_end > 0 && rest[0] == ']' && i >= set_end)
      set_end = 0;
    else if (set_end == 0 && rest[0] == '[')  // a ] directly after [ or [^ belongs to the set
      set_end = i + (letter == '^' ? 3 : 2);
    out += taken;
    i += taken.size() - 1;
  }
  return out;
}

#ifdef PROXBENCH_PCRE2

TokenRegex::TokenRegex(std::string_view pattern) {
  const std::string translated = pcre2_pattern(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), 0, &error,
                            &offset, nullptr),
              pcre2_code_free);
  match_.reset(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  if (code_ != nullptr) return;
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(error, text, sizeof text);
  throw Error::usage(
      fmt::format("{} at byte {} of {}", reinterpret_cast<const char*>(text), offset, translated));
}

std::optional<std::string_view> TokenRegex::find(std::string_view text) const {
  const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                match_.get(), nullptr);
  if (found < 0) return std::nullopt;
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(match_.get());
  return text.substr(ends[0], ends[1] - ends[0]);
}

#else

TokenRegex::TokenRegex(std::string_view) {
  throw Error::usage("this program was built without PCRE2 (Debian: libpcre2-dev)");
}

std::optional<std::string_view> TokenRegex::find(std::string_view) const {
  return std::nullopt;
}

#endif

}  // namespace proxbench
