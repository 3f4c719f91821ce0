#include "experiments/config/option_docs.h"

#include <fmt/format.h>

#include "core/base/options.h"
#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/config/data_format.h"
#include "experiments/config/trainers.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

std::string code(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", text);
}

/// Returns e.g. "`40`" or "`40`; `10` where preset = `paper`".
std::string default_cell(const OptionSpec& spec) {
  std::string cell = code(spec.default_value);
  for (const auto& [preset, value] : spec.preset_values) cell += "; " + preset + ": " + code(value);
  return cell;
}

/// Returns the type, and the values if they are bounded.
std::string values_cell(const OptionSpec& spec, bool is_list) {
  const std::string list = is_list ? "list of " : "", constraint = spec.constraint();
  std::vector<std::string> choices;
  for (const std::string& choice : spec.choices) choices.push_back(code(choice));
  if (!choices.empty()) return fmt::format("{}{}", list, fmt::join(choices, ", "));
  if (spec.type == OptionType::kBool || constraint.starts_with("any ")) return list + spec.type_name();
  return fmt::format("{}{}: {}", list, spec.type_name(), code(constraint));
}

/// Returns one row per option, or "" if there are none.
std::string options_grid(const OptionTable& table, const ConfigSectionInfo& section = {}) {
  if (table.empty()) return "";
  TextTable grid;
  grid.head = {section.name.empty() ? "option" : "key", "default", "values", "what"};
  grid.text_columns = grid.head.size();
  for (const OptionSpec& spec : table)
    grid.rows.push_back({code(spec.name),
                         section.required.contains(spec.name) ? "required" : default_cell(spec),
                         values_cell(spec, section.lists.contains(spec.name)), markdown_literal(spec.help)});
  return "\n" + markdown_grid(grid);
}

std::string block(const std::string& name, const std::string& help, const std::string& grid) {
  return fmt::format("\n### `{}`\n\n{}\n{}", name, markdown_literal(help), grid);
}

template <class Infos>
std::string blocks_of(const Infos& infos) {
  std::string out;
  for (const auto& info : infos) out += block(info.name, info.help, options_grid(info.options));
  return out;
}

}  // namespace

std::vector<DocBlock> option_blocks() {
  std::string config;
  for (const ConfigSectionInfo& section : config_sections())
    config += block(fmt::format("[{}]", section.name), section.help, options_grid(section.keys, section));
  std::vector<DocBlock> blocks{{"options:config", config},
                               {"options:solvers", blocks_of(solver_registry().items())},
                               {"options:external", options_grid(external_trainer().options)},
                               {"options:formats", blocks_of(data_format_registry().items())}};
  for (DocBlock& block : blocks)
    block.text = fmt::format("<!-- {} -->\n{}\n<!-- end -->\n", block.name, block.text);
  return blocks;
}

}  // namespace proxbench
