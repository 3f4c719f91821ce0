/// Documents of the LSHTC challenges: the hierarchical classification problem of Zhong et al. 2014, section
/// 6.2. One document per line,
///
///     leaf 0:<document id> feature:value feature:value ...
///
/// where the leaf is in the hierarchy file (documents.h). A feature is an integer of at least 1. A value is a
/// number of at least 0, here a term frequency. An entry with value 0 is ignored. A negative value is an
/// error: counts are not negative, and values are scaled to [0, 1] by their maximum.
///
/// Field 0 is the document's id. The challenge says to ignore it. The authors of Prox-QN kept it as an
/// additional feature, scaled as (id - min) / (max - min) over the training set. With `keep_doc_id` it
/// becomes feature "0" in this way, whatever `scale` is. Otherwise it is dropped, and may be missing.

#include "experiments/data/documents/documents.h"

namespace proxbench {
namespace {

DataPair read_lshtc(const DataFiles& files, const Options& options, const Processes* processes) {
  return read_documents(files, options, processes,
                        {.rules = {.line = "leaf 0:<document id> feature:value feature:value ...",
                                   .negative_values = false,
                                   .document_id = true},
                         .divide_by_max = divides_by_max(options),
                         .keep_id = options.boolean("keep_doc_id")});
}

}  // namespace

DataFormatInfo lshtc_format() {
  return with_reader(
      {.name = "lshtc",
       .help = "leaf 0:<document id> feature:value ..., one document a line; needs a hierarchy, cat_hier.txt",
       .source = "the LSHTC challenges; section 6.2 of Zhong et al. 2014 (Prox-QN)",
       .options = {value_scale_option("max"),
                   {"keep_doc_id", OptionType::kBool, "false",
                    "true: the document id is one more feature, scaled to [0, 1] over the training set, as "
                    "the authors "
                    "of Prox-QN had it"}},
       .fitted =
           [](const Options& options) { return divides_by_max(options) || options.boolean("keep_doc_id"); },
       .oracle = "tree"},
      read_lshtc, HierarchyUse::kRequired);
}

}  // namespace proxbench
