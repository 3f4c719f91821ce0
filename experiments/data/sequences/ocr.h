#pragma once
/// The OCR task: handwritten words collected by Rob Kassel, prepared by Ben Taskar as letter.data
/// (http://ai.stanford.edu/~btaskar/ocr/); the sequence labelling problem of Zhong et al. 2014, section 6.1.
///
/// One letter a line, tab separated: id, letter, next_id (-1 ends a word), word_id, position (from 1), fold,
/// and 128 pixels 0 or 1, row by row; a tab may follow the last one. The registered format is ocr_format() in
/// readers.h.

#include <string>

#include "experiments/data/sequences/letters.h"

namespace proxbench {

/// Appends the words of the file. Throws Error (kInput) with file, line, found and expected where the file is
/// missing, empty or malformed: number of fields, integers, letters, pixels, and the chain of letters to
/// words.
void read_letter_data(const std::string& path, Words& words);

}  // namespace proxbench
