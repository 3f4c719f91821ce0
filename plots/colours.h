#pragma once
/// The look of solvers in figures and pages: the same label has the same colour in both.

#include <array>

namespace proxbench {

/// Okabe and Ito's colours, told apart by colour-blind readers as well; their yellow is too pale for lines.
/// A brown makes eight: the solvers of the largest figure.
inline constexpr std::array<const char*, 8> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                        "#E69F00", "#56B4E9", "#000000", "#8C510A"};

}  // namespace proxbench
