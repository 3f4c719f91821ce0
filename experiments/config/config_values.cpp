#include "experiments/config/config_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "experiments/config/path_grid.h"

namespace proxbench {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string value_problem(const OptionSpec& spec, const std::string& text) {
  try {
    Options({spec}).set(spec.name, text);
    return "";
  } catch (const Error&) {
    std::string expected = spec.constraint();
    if (spec.type == OptionType::kInt) expected = "an integer, " + expected;
    if (spec.type == OptionType::kReal) expected = "a finite real, " + expected;
    return fmt::format("found '{}', expected {}{}", text, expected, did_you_mean(text, spec.choices));
  }
}

PathOf path_of(std::string_view key) {
  return key == "mu" ? PathOf::kMu : PathOf::kLambda;
}

Values::Values(const ConfigSectionInfo& info, const IniSection* section, const std::string& title,
               Problems& problems)
    : info_(info), section_(section) {
  for (const OptionSpec& spec : info.keys) {
    const IniEntry* entry = section ? section->find(spec.name) : nullptr;
    if (!entry && contains(info.required, spec.name)) {
      if (section)
        problems.add(section->where,
                     fmt::format("{} has no key '{}', expected {} = ...", title, spec.name, spec.name));
      complete_ = false;
      continue;
    }
    text_[spec.name] = entry ? entry->value : spec.default_value;
    if (!entry) continue;
    for (const auto& [offset, problem] : problems_of(spec, entry->value)) {
      problems.add(entry->at(offset), fmt::format("{} {}: {}", title, spec.name, problem));
      text_[spec.name] = spec.default_value;
      complete_ = false;
    }
  }
}

std::vector<std::string> Values::list(std::string_view key) const {
  std::vector<std::string> out;
  for (ListPart& part : parts(key)) out.push_back(std::move(part.text));
  return out;
}

double Values::real(std::string_view key) const {
  double value = 0;
  if (text(key) == "auto") return std::numeric_limits<double>::quiet_NaN();
  parse_real(text(key), value);
  return value;
}

std::vector<double> Values::reals(std::string_view key) const {
  std::vector<double> values;
  for (const std::string& part : list(key))
    if (!looks_like_path(part)) parse_real(part, values.emplace_back());
  return values;
}

std::vector<PathGrid> Values::paths(std::string_view key) const {
  std::vector<PathGrid> values;
  for (const std::string& part : list(key))
    if (looks_like_path(part)) values.push_back(parse_path(part, path_of(key), std::string(key)));
  return values;
}

std::int64_t Values::integer(std::string_view key) const {
  std::int64_t value = 0;
  parse_integer(text(key), value);
  return value;
}

bool Values::boolean(std::string_view key) const {
  for (const OptionSpec& spec : info_.keys) {
    if (spec.name != key) continue;
    Options options({spec});
    options.set(key, text(key));
    return options.boolean(key);
  }
  return false;
}

Location Values::where(std::string_view key, std::size_t offset) const {
  if (!section_) return {};
  const IniEntry* entry = section_->find(key);
  return entry ? entry->at(offset) : section_->where;
}

std::optional<Values::ValueProblem> Values::path_problem(const OptionSpec& spec, std::string_view text) {
  PathProblem problem;
  if (parse_path(text, path_of(spec.name), problem)) return std::nullopt;
  return ValueProblem{problem.offset, problem.text};
}

std::vector<ListPart> Values::parts(std::string_view key) const {
  return contains(info_.paths, key) ? path_list_parts(text(key)) : list_parts(text(key));
}

std::vector<Values::ValueProblem> Values::problems_of(const OptionSpec& spec,
                                                      const std::string& value) const {
  std::vector<ValueProblem> problems;
  const bool required = contains(info_.required, spec.name);
  if (contains(info_.lists, spec.name)) {
    problems = list_problems(spec, value);
  } else if (required && value.empty()) {
    problems.push_back({0, "found nothing, expected " + spec.help});
  } else if (contains(info_.paths, spec.name) && looks_like_path(value)) {
    if (const auto problem = path_problem(spec, value)) problems.push_back(*problem);
  } else if (std::string problem = value_problem(spec, value); !problem.empty()) {
    problems.push_back({0, std::move(problem)});
  }
  return problems;
}

std::vector<Values::ValueProblem> Values::list_problems(const OptionSpec& spec,
                                                        const std::string& value) const {
  std::vector<ValueProblem> problems;
  OptionSpec element = spec;
  const std::vector<std::string> defaults = split_list(spec.default_value);
  element.default_value = defaults.empty() ? "" : defaults.front();
  const bool may_be_path = contains(info_.paths, spec.name);
  const std::vector<ListPart> parts = may_be_path ? path_list_parts(value) : list_parts(value);
  if (parts.empty() && (spec.type != OptionType::kString || contains(info_.required, spec.name)))
    problems.push_back({0, "found nothing, expected a list"});
  std::set<std::string> seen;
  for (const auto& [part, offset] : parts) {
    if (part.empty())
      problems.push_back({offset, "found nothing between commas, expected a value"});
    else if (may_be_path && looks_like_path(part)) {
      if (const auto problem = path_problem(spec, part))
        problems.push_back({offset + problem->offset, problem->text});
      else if (!seen.insert(parse_path(part, path_of(spec.name), spec.name).text()).second)
        problems.push_back({offset, fmt::format("found '{}' again, expected each value once", part)});
      continue;
    } else if (std::string problem = value_problem(element, part); !problem.empty())
      problems.push_back({offset, problem + (may_be_path ? ", or path(START, END, COUNT)" : "")});
    // 10 and 1e1 are the same value.
    double number = 0;
    const bool numeric = spec.type != OptionType::kString && parse_real(part, number);
    const bool again = !seen.insert(numeric ? fmt::format("{}", number) : part).second;
    if (again && !contains(info_.repeating, spec.name))
      problems.push_back({offset, fmt::format("found '{}' again, expected each value once", part)});
  }
  return problems;
}

}  // namespace proxbench
