#pragma once
/// Pieces of a line of text.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"

namespace proxbench {

/// The characters that separate the words of a line of data.
inline constexpr std::string_view kBlanks = " \t";
/// The characters that no reader accepts as part of a value.
inline constexpr std::string_view kWhiteSpace = " \t\r\v\f";

/// Removes these characters from both ends of the text.
std::string_view trim(std::string_view text, std::string_view space = kWhiteSpace);

/// Removes the next word, which ends at a blank, from the front of `text` and returns it. Returns an empty
/// word at the end.
std::string_view take_word(std::string_view& text);

/// Calls use(part) for the parts between separators; an empty text is one part.
template <class Use>
void for_each_part(std::string_view text, char separator, const Use& use) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    use(text.substr(begin, end - begin));
    begin = end + 1;
  }
}
std::vector<std::string_view> split(std::string_view text, char separator);
/// The words of a text, without the blanks between them.
std::vector<std::string_view> words_of(std::string_view text);
/// The last lines of a text that are not blank, without white space around them.
std::vector<std::string> last_lines(std::string_view text, std::size_t most);

bool contains(const std::vector<std::string>& names, std::string_view name);

/// The number with this many significant digits, rounded down or up. For bounds and gaps, which must not
/// claim more than was proven.
std::string text_down(double x, int digits);
std::string text_up(double x, int digits);

/// A digest of data as text for headers and manifests, e.g. "0123456789abcdef".
std::string digest_text(std::uint64_t digest);

/// Changes A to Z to lower case. All other bytes stay, including letters beyond ASCII in UTF-8.
void to_lowercase(std::string& text);

/// Replaces some characters of the text by other texts.
std::string replaced(std::string_view text, const std::map<char, const char*>& by);

/// The text as a message shows it: control characters become \xNN, and a long text is cut and ends with
/// "...". Use this for any text that may appear in many messages: a long name in many messages would exhaust
/// memory.
std::string printable(std::string_view text);
/// The printable text in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace proxbench
