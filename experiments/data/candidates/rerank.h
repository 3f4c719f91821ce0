#pragma once
/// Candidates in groups, for re-ranking: one candidate a line,
///
///     quality TAB attribute[:value] TAB attribute[:value] ...
///
/// and an empty line after each group (after the last one it may be missing). Attributes are those of the
/// format `crfsuite`, `\:` and `\\` in names included. A quality is a finite number, the higher the better,
/// or `correct/gold/guessed`: how many items (chunks, brackets) the candidate has in common with the gold
/// structure, and how many either has. The quality is then the candidate's F1, and corpus F1 follows from the
/// sums. All candidates of all files have the same kind of quality.
///
/// The gold candidate of a group is the first of the highest quality. With gold = perfect it must be perfect:
/// of quality 1.
///
/// With base_column = true the second field is the base model's score, a number, and becomes the feature
/// `base`. Without it an attribute `base:-3.5` says the same.
///
/// The registered format is rerank_format() in readers.h.
