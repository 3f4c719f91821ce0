#include "core/loss.h"

namespace proxbench {

const char* loss_name(Loss::Kind kind) {
  return kind == Loss::Kind::kHinge ? "hinge" : "log";
}

const char* cost_name(Cost cost) {
  return cost == Cost::kHammingMean ? "hamming-mean" : "hamming";
}

std::string Loss::text() const {
  const std::string name = loss_name(kind);
  return hinge() && cost != Cost::kHamming ? name + ", cost = " + cost_name(cost) : name;
}

}  // namespace proxbench
