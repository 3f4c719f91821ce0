#include "experiments/data/readers.h"

#include <utility>

namespace proxbench {
namespace {

Registry<DataFormatInfo>& registry() {
  static Registry<DataFormatInfo> all = [] {
    Registry<DataFormatInfo> r("data format");
    r.add(ocr_format());
    r.add(crfsuite_format());
    r.add(conll_format());
    r.add(conllu_format());
    r.add(crfsparse_format());
    r.add(lshtc_format());
    r.add(libsvm_format());
    r.add(rerank_format());
    r.add(arff_format());
    r.add(synthetic_ocr_format());
    r.add(synthetic_lshtc_format());
    r.add(synthetic_chain_format());
    r.add(synthetic_classes_format());
    return r;
  }();
  return all;
}

}  // namespace

const Registry<DataFormatInfo>& data_format_registry() {
  return registry();
}

void add_data_format(DataFormatInfo info) {
  registry().add(std::move(info));
}

}  // namespace proxbench
