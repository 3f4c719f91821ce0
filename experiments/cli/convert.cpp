/// `convert`: writes a data set in the format of another trainer, or a model as text or binary file.
#include "experiments/data/convert.h"

#include <fmt/format.h>

#include "experiments/cli/cli.h"
#include "experiments/data/model.h"

namespace proxbench {
namespace {

struct ConvertCommand {
  DataFlags data;
  std::string to, model, out;

  void add_to(CLI::App& command) {
    data.add_to(command);
    std::string help;
    std::vector<std::string> names;
    for (const TargetFormat& target : target_formats()) {
      names.push_back(target.name);
      help += fmt::format("\n{}: {}", target.name, target.help);
    }
    CLI::Option* const format =
        command.add_option("--to", to, "the format to write")->check(CLI::IsMember(names));
    command
        .add_option("--model", model,
                    "in place of data: a model, which --out M.pbm makes binary, and any "
                    "other name text")
        ->type_name("M.tsv")
        ->excludes(format);
    add_output(
        command, "--out", out,
        "the file to write; beside it FILE.template (crf++, crfsparse) and FILE.names (crfsparse, libsvm)",
        "FILE")
        ->required();
    command.footer("Formats:" + help);
  }

  void execute() const {
    if (!model.empty()) {
      const Model stored = read_model(input_file(model));
      write_file_atomically(out, names_binary_model(out) ? model_bytes(stored) : model_text(stored));
      return;
    }
    if (to.empty()) throw Error::usage("expected --to FORMAT for data, or --model M.tsv");
    if (data.keys.given("test"))
      throw Error::usage("--test: found a test set, expected --train alone: one data set is converted");
    const ConvertedFiles written = converted_files(to, out);
    add_outputs("--out", {written.names, written.template_file});
    const DataPair read = read_data(data.read());
    const ConvertedFiles files = convert(read.train, to, out);
    for (const fs::path& file : {files.data, files.template_file, files.names})
      if (!file.empty()) fmt::print("{}\n", file.string());
  }
};

}  // namespace

void add_convert_command(CLI::App& app) {
  add_command<ConvertCommand>(
      app, "convert",
      "Write a data set in the format of another trainer; prints the files that it wrote. Or write a model "
      "as text or binary file");
}

}  // namespace proxbench
