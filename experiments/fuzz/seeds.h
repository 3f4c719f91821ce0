#pragma once
/// Small inputs for each fuzz target (layout: targets.h), most of them valid. They contain no data of others.

#include <string>
#include <vector>

namespace proxbench {

std::vector<std::string> ini_seeds();
std::vector<std::string> config_seeds();
std::vector<std::string> ocr_seeds();
std::vector<std::string> lshtc_seeds();
std::vector<std::string> crfsuite_seeds();
std::vector<std::string> conll_seeds();
std::vector<std::string> rerank_seeds();
std::vector<std::string> libsvm_seeds();
std::vector<std::string> arff_seeds();
std::vector<std::string> crfsparse_seeds();
std::vector<std::string> model_seeds();

}  // namespace proxbench
