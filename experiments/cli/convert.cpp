/// `convert`: a data set as the files of another trainer.
#include "experiments/data/convert.h"

#include <fmt/format.h>

#include "experiments/cli/cli.h"
#include "experiments/run/read_data.h"

namespace proxbench {
namespace {

struct ConvertCommand {
  DataFlags data;
  std::string to, out;
};

std::vector<std::string> target_names() {
  std::vector<std::string> out;
  for (const TargetFormat& target : target_formats()) out.push_back(target.name);
  return out;
}

void convert_data(const ConvertCommand& command) {
  if (!command.data.test.empty())
    throw Error::usage("--test: found a test set, expected --train alone: one data set is converted");
  if (command.data.format.empty()) throw Error::usage("--format: found nothing, expected a data format");
  check_writable(command.out);
  const DataFormatInfo& format = data_format_registry().find(command.data.format);
  const DataPair data = read_data(command.data, format, command.data.options_of(format));
  const ConvertedFiles files = convert(data.train, command.to, command.out);
  for (const std::filesystem::path& file : {files.data, files.template_file, files.names})
    if (!file.empty()) fmt::print("{}\n", file.string());
}

}  // namespace

void add_convert_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "convert", "Write a data set in the format of another trainer; prints the files that it wrote");
  auto command = std::make_shared<ConvertCommand>();
  command->data.add_to(*sub);
  std::string targets;
  for (const TargetFormat& target : target_formats())
    targets += fmt::format("\n{}: {}", target.name, target.help);
  sub->add_option("--to", command->to, "the format to write")
      ->required()
      ->check(CLI::IsMember(target_names()));
  sub->add_option(
         "--out", command->out,
         "the file to write; beside it FILE.template (crf++, crfsparse) and FILE.names (crfsparse, libsvm)")
      ->required()
      ->type_name("FILE");
  sub->footer("Formats:" + targets);
  sub->callback([command] { convert_data(*command); });
}

}  // namespace proxbench
