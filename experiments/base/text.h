#pragma once
/// Pieces of a line of text.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace proxbench {

/// What separates the words of a line of data.
inline constexpr std::string_view kBlanks = " \t";
/// What no reader takes as part of a value.
inline constexpr std::string_view kWhiteSpace = " \t\r\v\f";

/// The text without these characters at both ends.
std::string_view trim(std::string_view text, std::string_view space = kWhiteSpace);

/// Takes the next word (blanks separate) off the front of `text`; empty at its end.
std::string_view take_word(std::string_view& text);

/// Throws Error (kUsage) "WHAT: found 'NAME' (did you mean ...?), expected EXPECTED A, B" where the name is
/// none of the known ones.
void require_known(const std::string& what, const std::string& name, const std::vector<std::string>& known,
                   const std::string& expected = "one of");

/// The text with other texts in the place of some of its characters.
std::string replaced(std::string_view text, const std::map<char, const char*>& by);

/// The text as a message shows it: control characters as \xNN, long text cut with "...". What may stand in
/// many messages must go through it: a long name times many messages would be more than memory holds.
std::string printable(std::string_view text);
/// The same in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace proxbench
