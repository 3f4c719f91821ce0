/// `convert`: a data set as the files of another trainer.
#include "experiments/data/convert.h"

#include <fmt/format.h>

#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

std::vector<std::string> target_names() {
  std::vector<std::string> out;
  for (const TargetFormat& target : target_formats()) out.push_back(target.name);
  return out;
}

struct ConvertCommand {
  DataFlags data;
  std::string to, out;

  void add_to(CLI::App& command) {
    data.add_to(command);
    std::string targets;
    for (const TargetFormat& target : target_formats())
      targets += fmt::format("\n{}: {}", target.name, target.help);
    command.add_option("--to", to, "the format to write")->required()->check(CLI::IsMember(target_names()));
    add_output(
        command, "--out", out,
        "the file to write; beside it FILE.template (crf++, crfsparse) and FILE.names (crfsparse, libsvm)",
        "FILE")
        ->required();
    command.footer("Formats:" + targets);
  }

  void execute() const {
    if (data.keys.given("test"))
      throw Error::usage("--test: found a test set, expected --train alone: one data set is converted");
    const DataPair read = read_data(data.read());
    const ConvertedFiles files = convert(read.train, to, out);
    for (const std::filesystem::path& file : {files.data, files.template_file, files.names})
      if (!file.empty()) fmt::print("{}\n", file.string());
  }
};

}  // namespace

void add_convert_command(CLI::App& app) {
  add_command<ConvertCommand>(
      app, "convert", "Write a data set in the format of another trainer; prints the files that it wrote");
}

}  // namespace proxbench
