#pragma once
/// Candidates in groups, for re-ranking: one candidate per line,
///
///     quality TAB attribute[:value] TAB attribute[:value] ...
///
/// and an empty line after each group (optional after the last one). Attributes are written as in the format
/// `crfsuite`, including `\:` and `\\` in names. A quality is a finite number, higher is better, or
/// `correct/gold/guessed`: how many items (chunks, brackets) the candidate shares with the gold structure,
/// and how many the gold structure and the candidate have. The quality is then the candidate's F1, and the
/// sums give the corpus F1. All candidates of all files have the same kind of quality.
///
/// The gold candidate of a group is the first one with the highest quality. With gold = perfect, this quality
/// must be 1.
///
/// With base_column = true, the second field is the base model's score, a number. It becomes the feature
/// `base`. Without base_column, an attribute `base:-3.5` means the same.
///
/// The registered format is rerank_format() in readers.h.
