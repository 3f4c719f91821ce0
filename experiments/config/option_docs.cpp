#include "experiments/config/option_docs.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/options.h"
#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/config/data_format.h"
#include "experiments/config/trainers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string code(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", text);
}

/// `40`, or `40`; `10` where preset = `paper`.
std::string default_cell(const OptionSpec& spec) {
  std::string cell = code(spec.default_value);
  for (const auto& [preset, value] : spec.preset_values) cell += "; " + preset + ": " + code(value);
  return cell;
}

/// The type, and the values where they are bounded.
std::string values_cell(const OptionSpec& spec, bool list) {
  std::string out = list ? "list of " + spec.type_name() : spec.type_name();
  if (!spec.choices.empty()) {
    std::vector<std::string> choices;
    for (const std::string& choice : spec.choices) choices.push_back(code(choice));
    return fmt::format("{}{}", list ? "list of " : "", fmt::join(choices, ", "));
  }
  const std::string constraint = spec.constraint();
  if (spec.type == OptionType::kBool || constraint.starts_with("any ")) return out;
  return fmt::format("{}: {}", out, code(constraint));
}

/// One row an option; "" where there are none. `section`: null for options that are no keys of a section.
std::string options_grid(const OptionTable& table, const ConfigSectionInfo* section = nullptr) {
  if (table.empty()) return "";
  TextTable grid;
  grid.head = {section ? "key" : "option", "default", "values", "what"};
  grid.text_columns = grid.head.size();
  for (const OptionSpec& spec : table) {
    const bool required = section && contains(section->required, spec.name);
    const bool list = section && contains(section->lists, spec.name);
    grid.rows.push_back({code(spec.name), required ? "required" : default_cell(spec), values_cell(spec, list),
                         markdown_literal(spec.help)});
  }
  return fmt::format("\n{}", markdown_grid(grid));
}

template <class Infos>
std::string blocks_of(const Infos& infos) {
  std::string out;
  for (const auto& info : infos)
    out += fmt::format("\n### `{}`\n\n{}\n{}", info.name, markdown_literal(info.help),
                       options_grid(info.options));
  return out;
}

std::string config_block() {
  std::string out;
  for (const ConfigSectionInfo& section : config_sections())
    out += fmt::format("\n### `[{}]`\n\n{}\n{}", section.name, markdown_literal(section.help),
                       options_grid(section.keys, &section));
  return out;
}

}  // namespace

std::vector<DocBlock> option_blocks() {
  std::vector<DocBlock> blocks{{"options:config", config_block()},
                               {"options:solvers", blocks_of(solver_registry().items())},
                               {"options:external", options_grid(external_trainer().options)},
                               {"options:formats", blocks_of(data_format_registry().items())}};
  for (DocBlock& block : blocks)
    block.text = fmt::format("<!-- {} -->\n{}\n<!-- end -->\n", block.name, block.text);
  return blocks;
}

}  // namespace proxbench
