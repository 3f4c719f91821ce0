#pragma once
/// The option tables as Markdown, for the READMEs: what a table says stands nowhere else by hand.

#include <string>
#include <vector>

namespace proxbench {

/// What a README holds from the line "<!-- NAME -->" to the line "<!-- end -->".
struct DocBlock {
  std::string name;  ///< "options:config", "options:solvers", "options:external", "options:formats"
  std::string text;  ///< both of these lines and what is between them, with a line break at the end
};

/// Of all registered solvers and data formats, and of the sections of a config.
std::vector<DocBlock> option_blocks();

}  // namespace proxbench
