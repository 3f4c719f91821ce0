#include "experiments/data/readers.h"

namespace proxbench {

const Registry<DataFormatInfo>& data_format_registry() {
  static const Registry<DataFormatInfo> registry = [] {
    Registry<DataFormatInfo> r("data format");
    r.add(ocr_format());
    r.add(crfsuite_format());
    r.add(conll_format());
    r.add(crfsparse_format());
    r.add(lshtc_format());
    r.add(libsvm_format());
    r.add(synthetic_ocr_format());
    r.add(synthetic_lshtc_format());
    return r;
  }();
  return registry;
}

}  // namespace proxbench
