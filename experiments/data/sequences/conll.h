#pragma once
/// Columns, as the CoNLL shared tasks publish their data: one token a line,
///
///     word POS ... label
///
/// separated by spaces or tabs, one or more of them, with as many columns in each line of all files, and an
/// empty (or blank) line after each sentence; after the last one it may be missing. No line is special: `#`
/// starts no comment, and `-DOCSTART-` is a token as any other. Which columns are the word, the part of
/// speech (POS) and the label is said by options.
///
/// Templates (templates.h) make the attributes of a token, from a file of the user's or as `attributes` names
/// them. Those of `attributes = chunking` are those of CRFsuite's tutorial on chunking (example/chunking.py),
/// in its order and under its names:
///
///     w[-2]=the ... w[2]=.   w[-1]|w[0]=a|b   w[0]|w[1]=a|b
///     pos[-2]=DT ... pos[2]=.   pos[-2]|pos[-1]=DT|NN and so on to pos[1]|pos[2]
///     pos[-2]|pos[-1]|pos[0]=DT|NN|VB   pos[-1]|pos[0]|pos[1]=...   pos[0]|pos[1]|pos[2]=...
///     __BOS__ at the first token, __EOS__ at the last
///
/// A template that reaches beyond the sentence gives no attribute at that token: nothing is padded, and
/// __BOS__ and __EOS__ are two attributes of their own. So the training file of CoNLL-2000 has 335,672
/// attributes of templates and these two, J = 335,674; with its K = 22 labels d = J*K + K*K = 7,385,312. All
/// values are 1. Names hold the bytes of the data: where the tutorial's script writes `__COLON__`, because
/// its output cannot hold a colon, they have the colon.
///
/// The registered format is conll_format() in readers.h.
