#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace proxbench {

/// Translates Wapiti's classes into PCRE2's, inside and outside of [...]: \a letters, \d digits, \l lower
/// case, \p punctuation, \s space, \u upper case, \w letters and digits, all in ASCII. A capital letter (\U)
/// stands for all other bytes.
std::string pcre2_pattern(std::string_view pattern);

/// Regular expressions of templates: PCRE2's over bytes, plus the character classes that Wapiti documents.
/// One thread at a time may use an object and its copies, which share the memory of a match.
class TokenRegex {
 public:
  /// Throws Error (kUsage) with PCRE2's message if the pattern is invalid, or if this program was built
  /// without PCRE2.
  explicit TokenRegex(std::string_view pattern);
  /// Returns the first part of the text that matches, which may be empty; none if nothing matches.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  std::shared_ptr<pcre2_real_code_8> code_;
  std::shared_ptr<pcre2_real_match_data_8> match_;  ///< reused by each find(), since allocation is slow
};

}  // namespace proxbench
