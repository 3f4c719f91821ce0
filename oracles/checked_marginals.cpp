#include "oracles/checked_marginals.h"

#include "core/base/error.h"

namespace proxbench {

void CheckedMarginals::refuse(Index position, const std::string& found) {
  throw Error("position ", position, ": the dual point has ", found,
              ", expected marginals of a distribution within ", six_digits(kBeliefTolerance));
}

std::string CheckedMarginals::text(const LabelWeight& one) {
  return all_parts("weight ", six_digits(one.weight), " on label ", one.label);
}

std::string CheckedMarginals::text(const PairWeight& pair) {
  return all_parts("weight ", six_digits(pair.weight), " on the pair ", pair.left, ", ", pair.right);
}

void CheckedMarginals::check(Index position, const LabelWeight& one) const {
  if (one.label >= outputs_) refuse(position, all_parts(text(one), " of ", outputs_));
  if (!(one.weight >= 0.0)) refuse(position, text(one));
}

void CheckedMarginals::check(Index position, const PairWeight& pair) const {
  if (pair.left >= outputs_ || pair.right >= outputs_)
    refuse(position, all_parts(text(pair), " of ", outputs_, " labels"));
  if (!(pair.weight >= 0.0)) refuse(position, text(pair));
}

}  // namespace proxbench
