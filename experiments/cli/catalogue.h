#pragma once
/// Everything that is registered, and the sections of configs: for `list`, the tables of options in the
/// READMEs, and completion.

#include <set>
#include <string>
#include <vector>

#include "experiments/cli/cli.h"
#include "experiments/run/plugins.h"

namespace proxbench {

/// A registered item, or a section of configs.
struct Entry {
  struct Fact {
    const char* key;
    Json value;
    std::string line;  ///< the fact as text; empty: only in JSON
  };
  std::string name, help;
  std::vector<Fact> facts = {};
  const LoadedPlugin* plugin = nullptr;  ///< null: built in
  OptionTable options = {};
  std::set<std::string> lists = {}, required = {};  ///< names of options
};

/// All entries of one kind.
struct Kind {
  std::string title, key, options_key;  ///< title, and keys in JSON; no options_key: no options
  std::vector<Entry> entries = {};
};

/// Returns all kinds, with what plug-ins have brought so far.
std::vector<Kind> catalogue();

}  // namespace proxbench
