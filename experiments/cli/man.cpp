/// `man`: the manual page, from the tree of commands.
#include <fmt/format.h>

#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

/// Text as roff shows it literally.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() || out.back() == '\n')
      if (c == '.' || c == '\'') out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

/// The name of the type, without the choices that CLI11 adds.
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return option.get_items_expected_max() > 0 ? type.substr(0, type.find(':')) : "";
}

std::string option_text(const CLI::Option& option) {
  const std::string names = option.get_positional() ? option.get_name() : option.get_name(false, true);
  std::string head = fmt::format("\\fB{}\\fR", roff(names));
  if (const std::string type = type_of(option); !type.empty()) head += fmt::format(" \\fI{}\\fR", roff(type));
  const std::string end = option.get_required() ? " (required)" : "";
  return fmt::format(".TP\n{}\n{}{}\n", head, roff(option.get_description()), end);
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

// What no table of the program knows.
constexpr const char* kFiles = R"(.TP
\fICONFIG.ini\fR
an experiment: sections [experiment], [data.NAME], [solver.LABEL], [plot], [paper], [slurm];
\fBproxbench list \-\-options\fR prints all keys.
A line \fBinclude = FILE, ...\fR before the first section reads others first.
.TP
\fIresults/NAME/config.ini\fR
the config as it was understood
.TP
\fIresults/NAME/runs/\fR
a folder for each run, with its manifest, trace and model
.TP
\fIresults/NAME/references/\fR
the optimum of each data set, lambda and mu, and how well it is known
.TP
\fIresults/NAME/tables/\fR, \fIresults/NAME/figures/\fR
made from the runs
)";

constexpr const char* kEnvironment = R"(.TP
\fBPROXBENCH_DATA\fR
a folder below which relative data files are looked for, after the current folder and that of the config
.TP
\fBXDG_CACHE_HOME\fR
its proxbench/data is looked at last; ~/.cache where it is not set
.TP
\fBOMP_PROC_BIND\fR, \fBOMP_PLACES\fR, \fBOMP_WAIT_POLICY\fR
where the threads of the OpenMP back end run and how they wait; their number is \fB\-\-threads\fR
)";

constexpr const char* kExamples = R"(.nf
proxbench check configs/figure1.ini
proxbench run configs/figure1.ini \-\-out results/figure1
proxbench run configs/figure1.ini \-\-set experiment.lambda=50 \-\-dry\-run
proxbench table results/figure1
proxbench train \-\-format crfsuite \-\-train train.txt \-\-test test.txt \-\-lambda 1 \-\-model model.tsv
proxbench predict \-\-test test.txt \-\-model model.tsv \-\-output labels.txt
.fi
)";

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
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    commands += command_text(app, *command);
  section("COMMANDS", commands);
  section("EXIT STATUS", roff(app.get_footer()) + "\n");
  section("FILES", kFiles);
  section("ENVIRONMENT", kEnvironment);
  section("EXAMPLES", kExamples);
  return out;
}

}  // namespace

void add_man_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("man", "Print the manual page; to read it: proxbench man | man -l -");
  sub->callback([&app] { fmt::print("{}", manual(app)); });
}

}  // namespace proxbench
