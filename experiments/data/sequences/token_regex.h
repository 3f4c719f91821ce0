#pragma once
/// Regular expressions of templates: those of PCRE2 over bytes, with the character classes that Wapiti
/// documents.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;

namespace proxbench {

/// The pattern with Wapiti's classes written as PCRE2 has them, within [...] and outside: \a letters, \d
/// digits, \l lower case, \p punctuation, \s space, \u upper case, \w letters and digits, all of ASCII; a
/// capital (\U) stands for all other bytes.
std::string pcre2_pattern(std::string_view pattern);

class TokenRegex {
 public:
  /// Throws Error (kUsage) with what PCRE2 says of a pattern that it does not take, and where this program
  /// was built without PCRE2.
  explicit TokenRegex(std::string_view pattern);
  /// The first part of the text that matches, which may be empty; none where nothing does.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  std::shared_ptr<pcre2_real_code_8> code_;
};

}  // namespace proxbench
