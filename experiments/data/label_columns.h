#pragma once
/// Files of gold and predicted labels, as taggers write them.

#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace proxbench {

struct LabelColumns {
  Dataset data;                    ///< sequences with gold labels and the names of all labels
  std::vector<Index> predicted;    ///< one label for each position
  std::vector<std::string> notes;  ///< what was left out, one sentence each
  std::string warning;             ///< names labels that differ only in case or blanks, if there are any
};

/// Reads the gold and the predicted label from the last two columns of each line. Empty lines separate
/// sequences. If the first line has a TAB, TABs separate columns; otherwise blanks do. All lines must have
/// the same number of columns. Readable outputs:
/// - `predict --with-gold` and `crfsuite tag -r`: gold TAB predicted;
/// - Wapiti: word POS gold TAB predicted, where blanks separate the columns of the input;
/// - `crf_test` and `predict --columns --with-gold`: the columns of the input and the labels.
///
/// Some lines are no positions and are left out, with a note: comments, which begin with `#`; lines `@score`
/// and `@probability` of `crfsuite tag -p`; and, if first columns count the words of each sequence from 1,
/// the ranges (1-2) and empty nodes (1.1) of CoNLL-U. A line with `#` that has the right number of columns is
/// a token inside a sequence. Before the first token of a sequence, such a line is a token only if one of its
/// labels occurs in other lines.
///
/// Throws Error (kInput) with file and line if a line has another number of columns, if a label is empty, if
/// the predictions are n best lists or have probabilities, or if there are no positions.
LabelColumns read_label_columns(const std::string& path);

}  // namespace proxbench
