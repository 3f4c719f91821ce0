#pragma once
/// All built-in data formats; data_format_registry() holds them.

#include "experiments/config/format_registry.h"

namespace proxbench {

DataFormatInfo ocr_format();
DataFormatInfo crfsuite_format();
DataFormatInfo conll_format();
DataFormatInfo conllu_format();
DataFormatInfo crfsparse_format();
DataFormatInfo lshtc_format();
DataFormatInfo libsvm_format();
DataFormatInfo rerank_format();
DataFormatInfo arff_format();
DataFormatInfo synthetic_ocr_format();
DataFormatInfo synthetic_lshtc_format();
DataFormatInfo synthetic_chain_format();
DataFormatInfo synthetic_classes_format();

}  // namespace proxbench
