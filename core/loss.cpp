#include "core/loss.h"

#include "core/base/error.h"

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

Loss parse_loss(const std::string& kind, const std::string& cost) {
  for (const Loss::Kind one : {Loss::Kind::kLog, Loss::Kind::kHinge})
    for (const Cost other : {Cost::kHamming, Cost::kHammingMean})
      if (kind == loss_name(one) && cost == cost_name(other)) return {one, other};
  throw Error::usage("found loss '" + kind + "' with cost '" + cost +
                     "', expected log or hinge, and hamming or hamming-mean");
}

}  // namespace proxbench
