#pragma once
/// Columns, as in the data of the CoNLL shared tasks: one token per line,
///
///     word POS ... label
///
/// separated by one or more spaces or tabs. All lines of all files have the same number of columns. An empty
/// (or blank) line follows each sentence (optional after the last one). No line is special: `#` starts no
/// comment, and `-DOCSTART-` is an ordinary token. Options say which columns hold the word, the part of
/// speech (POS) and the label.
///
/// Templates (templates.h) make the attributes of a token. They come from the user's file or are selected by
/// `attributes`. With `attributes = chunking`, the attributes are those of CRFsuite's tutorial on chunking
/// (example/chunking.py), with the same order and names:
///
///     w[-2]=the ... w[2]=.   w[-1]|w[0]=a|b   w[0]|w[1]=a|b
///     pos[-2]=DT ... pos[2]=.   pos[-2]|pos[-1]=DT|NN and so on to pos[1]|pos[2]
///     pos[-2]|pos[-1]|pos[0]=DT|NN|VB   pos[-1]|pos[0]|pos[1]=...   pos[0]|pos[1]|pos[2]=...
///     __BOS__ at the first token, __EOS__ at the last
///
/// A template that reaches beyond the sentence gives no attribute at that token. Nothing is padded; __BOS__
/// and __EOS__ are separate attributes. So the training file of CoNLL-2000 gives 335,672 attributes of
/// templates and these two, J = 335,674. With its K = 22 labels, d = J*K + K*K = 7,385,312. All values are 1.
/// Names keep the bytes of the data: the tutorial's script writes `__COLON__` because its output cannot
/// contain a colon, but here the name contains the colon.
///
/// The registered format is conll_format() in readers.h.
