#pragma once
/// The one exception type of the library. The library never prints and never exits.

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace proxbench {

/// Why an operation failed. It determines the exit status of the command line.
enum class ErrorKind {
  kUsage,  ///< a wrong option, config or argument: exit status 2
  kInput,  ///< a malformed or missing input file: exit status 1
  kRun     ///< anything else that went wrong: exit status 1
};

/// Concatenates texts and numbers.
template <class... Parts>
std::string all_parts(const Parts&... parts) {
  std::string out;
  const auto add = [&](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>)
      out += std::to_string(part);
    else
      out += part;
  };
  (add(parts), ...);
  return out;
}

/// An error whose message says what happened, where, and which bound was violated.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::kRun)
      : std::runtime_error(message), kind_(kind) {}
  template <class... Parts>
  requires(sizeof...(Parts) > 1 &&
           !(std::same_as<Parts, ErrorKind> || ...)) explicit Error(const Parts&... parts)
      : Error(all_parts(parts...)) {}

  ErrorKind kind() const { return kind_; }

  /// "FILE:LINE: found FOUND, expected EXPECTED". Line 0 means that there is no line.
  static Error in_file(const std::string& file, std::uint64_t line, const std::string& found,
                       const std::string& expected) {
    std::string where = line > 0 ? file + ":" + std::to_string(line) : file;
    return Error(where + ": found " + found + ", expected " + expected, ErrorKind::kInput);
  }
  template <class... Parts>
  static Error usage(const Parts&... parts) {
    return Error(all_parts(parts...), ErrorKind::kUsage);
  }

 private:
  ErrorKind kind_;
};

}  // namespace proxbench
