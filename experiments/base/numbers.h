#pragma once
/// Values for numbers that were not measured (NaN) or never reached (infinity).

#include "core/base/numbers.h"
