#pragma once
/// The option tables as Markdown for the READMEs. Their contents are written nowhere else by hand.

#include <string>
#include <vector>

namespace proxbench {

/// The part of a README from the line "<!-- NAME -->" to the line "<!-- end -->".
struct DocBlock {
  std::string name;  ///< "options:config", "options:solvers", "options:external", "options:formats"
  std::string text;  ///< both of these lines and the text between them, with a line break at the end
};

/// Returns the blocks of all registered solvers and data formats, and of the sections of a config.
std::vector<DocBlock> option_blocks();

}  // namespace proxbench
