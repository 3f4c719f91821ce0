/// `convert`: writes a data set in the format of another trainer.
#include "experiments/data/convert.h"

#include <fmt/format.h>

#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

struct ConvertCommand {
  DataFlags data;
  std::string to, out;

  void add_to(CLI::App& command) {
    data.add_to(command);
    std::string help;
    std::vector<std::string> names;
    for (const TargetFormat& target : target_formats()) {
      names.push_back(target.name);
      help += fmt::format("\n{}: {}", target.name, target.help);
    }
    command.add_option("--to", to, "the format to write")->required()->check(CLI::IsMember(names));
    add_output(
        command, "--out", out,
        "the file to write; beside it FILE.template (crf++, crfsparse) and FILE.names (crfsparse, libsvm)",
        "FILE")
        ->required();
    command.footer("Formats:" + help);
  }

  void execute() const {
    if (data.keys.given("test"))
      throw Error::usage("--test: found a test set, expected --train alone: one data set is converted");
    const ConvertedFiles written = converted_files(to, out);
    add_outputs("--out", {written.names, written.template_file});
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
