#pragma once
/// The OCR task: handwritten words that Rob Kassel collected and Ben Taskar prepared as letter.data
/// (http://ai.stanford.edu/~btaskar/ocr/). It is the sequence labelling problem of Zhong et al. 2014, section
/// 6.1.
///
/// One letter per line. The fields are separated by tabs: id, letter, next_id (-1 ends a word), word_id,
/// position (from 1), fold, and 128 pixels 0 or 1, row by row. A tab may follow the last pixel. The
/// registered format is ocr_format() in readers.h.

#include <string>

#include "experiments/data/sequences/letters.h"

namespace proxbench {

/// Appends the words of the file. Throws Error (kInput) with file, line, found and expected if the file is
/// missing, empty or malformed. Checks the number of fields, integers, letters, pixels, and that letters link
/// up to words.
void read_letter_data(const std::string& path, Words& words);

}  // namespace proxbench
