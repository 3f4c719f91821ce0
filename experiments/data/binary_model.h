#pragma once
/// The bytes of binary model files (model.h).

#include <memory>
#include <string>
#include <string_view>

#include "experiments/data/weight_table.h"

namespace proxbench {

/// Whether the bytes of a file cannot be a text, but may be a binary model.
bool is_binary_model(std::string_view bytes);

/// The parts of a binary model.
struct BinaryModel {
  std::string_view lines;  ///< header lines, and lines of extra weights
  WeightTable unary;
};
/// Borrows the bytes, which live as long as `owner` and begin at a multiple of 8. Throws Error (kInput) with
/// what to do unless these are all bytes that binary_model_bytes() returned, on a machine of the same byte
/// order.
BinaryModel parse_binary_model(std::string_view bytes, std::shared_ptr<const void> owner,
                               const std::string& source);
std::string binary_model_bytes(const BinaryModel& model);

}  // namespace proxbench
