/// `man`: prints the manual page, made from the tree of commands and manual.roff.
#include <fmt/format.h>

#include "experiments/base/text.h"
#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

/// Escapes text so that roff shows it literally, even if its second line begins with a dot or quote.
std::string roff(const std::string& text) {
  return replaced(text, {{'\\', "\\e"}, {'-', "\\-"}, {'\n', "\n\\&"}});
}

std::string option_text(const CLI::Option& option) {
  const std::string names = option.get_positional() ? option.get_name() : option.get_name(false, true);
  // CLI11 adds the choices to the name of the type; leave them out.
  const std::string type = option.get_type_name();
  return fmt::format(".TP\n\\fB{}\\fR \\fI{}\\fR\n{}{}\n", roff(names),
                     option.get_items_expected_max() > 0 ? roff(type.substr(0, type.find(':'))) : "",
                     roff(option.get_description()), option.get_required() ? " (required)" : "");
}

std::string options_text(const CLI::App& app) {
  std::string out;
  for (const bool positional : {true, false})
    for (const CLI::Option* option : app.get_options())
      if (option->get_positional() == positional && !option->get_group().empty()) out += option_text(*option);
  return out;
}

std::string command_text(const CLI::App& program, const CLI::App& command) {
  std::string synopsis = program.get_name() + " " + command.get_name();
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) synopsis += " " + option->get_name(true);
  std::string out =
      fmt::format(".SS {}\n{}.\n{}", roff(synopsis), roff(command.get_description()), options_text(command));
  if (const std::string footer = command.get_footer(); !footer.empty() && footer != program.get_footer())
    out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  return out;
}

std::string manual(const CLI::App& app) {
  std::string out =
      fmt::format(".TH PROXBENCH 1 \"\" \"proxbench {}\" \"User Commands\"\n", PROXBENCH_VERSION);
  const auto section = [&](const char* name, const std::string& text) {
    out += fmt::format(".SH {}\n{}", name, text);
  };
  section("NAME", fmt::format("proxbench \\- {}\n", roff(app.get_description())));
  section("SYNOPSIS", "\\fBproxbench\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n");
  section("OPTIONS", options_text(app));
  std::string commands;
  for (const CLI::App* command : shown_commands(app)) commands += command_text(app, *command);
  section("COMMANDS", commands);
  section("EXIT STATUS", roff(app.get_footer()) + "\n");
  return out + std::string(manual_sections());
}

}  // namespace

void add_man_command(CLI::App& app) {
  app.add_subcommand("man", "Print the manual page; to read it: proxbench man | man -l -")->callback([&app] {
    fmt::print("{}", manual(app));
  });
}

}  // namespace proxbench
