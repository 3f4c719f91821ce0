#include "experiments/data/documents/lshtc.h"

#include "experiments/data/documents/documents.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

SparseLineRules lshtc_rules() {
  SparseLineRules rules;
  rules.line = "leaf 0:<document id> feature:value feature:value ...";
  rules.negative_values = false;
  rules.document_id = true;
  return rules;
}

DataPair read_lshtc(const DataFiles& files, const Options& options, const Processes* processes) {
  return read_documents(files, options, processes,
                        {.rules = lshtc_rules(),
                         .divide_by_max = divides_by_max(options),
                         .keep_id = options.boolean("keep_doc_id")});
}

}  // namespace

DataFormatInfo lshtc_format() {
  DataFormatInfo info;
  info.name = "lshtc";
  info.help = "leaf 0:<document id> feature:value ..., one document a line; needs a hierarchy, cat_hier.txt";
  info.source = "the LSHTC challenges; section 6.2 of Zhong et al. 2014 (Prox-QN)";
  info.options = {
      value_scale_option("max"),
      {"keep_doc_id", OptionType::kBool, "false",
       "true: the document id is one more feature, scaled to [0, 1] over the training set, as the authors "
       "of Prox-QN had it"}};
  info.fitted = [](const Options& options) {
    return divides_by_max(options) || options.boolean("keep_doc_id");
  };
  set_reader(info, read_lshtc, HierarchyUse::kRequired);
  return info;
}

}  // namespace proxbench
