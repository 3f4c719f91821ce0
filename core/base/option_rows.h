#pragma once
/// The name that solvers use for the tables of their options (schema.h).

#include "core/base/schema.h"

namespace proxbench {

template <class Settings>
using OptionRows = Schema<Settings>;

}  // namespace proxbench
