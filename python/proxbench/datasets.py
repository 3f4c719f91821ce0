"""Data sets to train on: from files, from lists of dicts, and from matrices."""
from itertools import chain
from typing import Any

import numpy as np

from .compiled import checked, require
from .errors import UsageError

UNKNOWN, NONE = -1, -2
LARGEST_VALUE = 1e150  # squares of values up to here have finite sums over positions, as for files


class Data:
    """A training set, and perhaps a test set, with the names of features and labels. `read`, `sequences`, `classes`,
    `groups` and `label_sets` make it. It does not change, and several trainings may use it at once."""

    def __init__(self, core):
        self._core = core

    @property
    def features_(self):
        """Names of the features, a list of str."""
        return self._core.features

    @property
    def labels_(self):
        """Names of the labels (of a hierarchy: of its nodes), a list of str."""
        return self._core.outputs

    @property
    def oracle(self):
        """"chain", "tree", "candidates" or "labels"."""
        return self._core.oracle

    def __reduce__(self):
        raise UsageError("Data: found an attempt to pickle or copy it, expected none: keep X and y, or the files")

    def facts(self, test=False):
        """A dict: instances, positions, nonzeros, description, digest, notes (what was dropped), warnings."""
        return self._core.facts(test)

    def matrix(self, test=False):
        """X as a scipy.sparse.csr_matrix, positions x features."""
        from scipy.sparse import csr_matrix

        indptr, indices, values = self._core.csr(test)
        return csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, len(self.features_)))

    def gold(self, test=False):
        """The label of each position as its number, an array of int64; -1: unknown, -2: none."""
        return self._core.gold(test)

    def lengths(self, test=False):
        """Positions of each instance, an array of int64."""
        return np.diff(np.asarray(self._core.begin(test), dtype=np.int64))

    def __repr__(self):
        facts = self.facts()
        return f"<proxbench.Data: {facts['description']}, {len(self.features_)} features, {len(self.labels_)} labels>"


@checked
def read(format, train, test=(), hierarchy="", oracle="", **options) -> Data:
    """Reads data files, as the program does.

    format    a format of `proxbench list`: "crfsuite", "conll", "libsvm", "lshtc", "ocr", ...
    train     a file name, or a list of them; also searched in $PROXBENCH_DATA
    test      the same, for a test set
    options   the options of the format, e.g. template="chunking"

    Returns Data. Raises proxbench.Error with file, line, what was found and what was expected."""
    return Data(require().read(format, _names(train), _names(test), str(hierarchy), oracle, _texts(options)))


@checked
def sequences(X, y, lengths=None, test=None, feature_names=None) -> Data:
    """Sequences for a linear-chain CRF.

    X         a list of sequences; each is a list of items, one a position, as for python-crfsuite: a dict (values are
              numbers, bools, strings, lists of strings or dicts), or a list of strings.
              Or a matrix, positions x features (SciPy or NumPy), with `lengths`
    y         a list of lists of labels (str), or with `lengths` also one flat list
    lengths   positions of each sequence, for a matrix
    test      (X, y) or (X, y, lengths) of a test set
    feature_names   of a matrix; else the numbers of its columns

    Returns Data."""
    make = _Maker(*_sequence_rows(X, lengths, feature_names, None, "X"), oracle="chain", format="crfsuite")
    labels = _flat(y, make.begin, "y")
    number = _numbers_of(labels, "y")
    make.truth(_gold(labels, number))
    if test is not None:
        names = "(X, y)" if lengths is None else "(X, y, lengths)"
        test_x, test_y, *more = _parts(test, 2 if lengths is None else 3, names)
        rows, begin = _sequence_rows(test_x, more[0] if more else None, None, make.rows, "test X")
        make.test(rows, begin, _gold(_flat(test_y, begin, "test y"), number, UNKNOWN))
    description = f"{len(make.begin) - 1} sequences from Python, {make.begin[-1]} positions"
    return make.data([_name(label) for label in number], description)


@checked
def classes(X, y, hierarchy=None, test=None, feature_names=None) -> Data:
    """Rows of one label each, for multinomial logistic regression, or for a hierarchy of classes.

    X           a matrix, rows x features
    y           a label for each row; numbers are sorted as such, other labels come in order of first appearance
    hierarchy   a dict from each label or inner node to its parent, or None for the top
    test        (X, y) of a test set

    Returns Data."""
    make = _Maker(*_matrix_rows(X, None, feature_names, None, "X"), oracle="tree", format="libsvm",
                  options={"zero_based": "true"})
    labels = _flat(y, make.begin, "y")
    if hierarchy is None:
        number = _numbers_of(sorted(set(labels)) if all(map(_is_number, labels)) else labels, "y")
        parents = [0xFFFFFFFF] * len(number)
    else:
        number, parents = _preorder(hierarchy)
        inner = set(labels) & set(hierarchy.values())
        if inner:
            raise UsageError(f"y: found {next(iter(inner))!r}, an inner node of the hierarchy, expected its leaves")
    make.truth(_gold(labels, number))
    make.parents = parents
    if test is not None:
        test_x, test_y = _parts(test, 2, "(X, y)")
        rows, begin = _matrix_rows(test_x, None, None, make.rows, "test X")
        make.test(rows, begin, _gold(_flat(test_y, begin, "test y"), number, UNKNOWN))
    return make.data([_name(label) for label in number], f"{make.begin[-1]} rows from Python")


@checked
def groups(X, quality, lengths, test=None, feature_names=None) -> Data:
    """Groups of candidates, for re-ranking.

    X         one row for each candidate: a matrix, or a list of items as in `sequences`
    quality   a number for each candidate, higher is better; the first of the best of a group is the gold one
    lengths   candidates of each group
    test      (X, quality, lengths)

    Returns Data."""
    make = _Maker(*_group_rows(X, lengths, feature_names, None, "X"), oracle="candidates", format="rerank")
    make.truth(*_best(quality, make.begin, "quality"))
    if test is not None:
        test_x, test_quality, test_lengths = _parts(test, 3, "(X, quality, lengths)")
        rows, begin = _group_rows(test_x, test_lengths, None, make.rows, "test X")
        make.test(rows, begin, *_best(test_quality, begin, "test quality"))
    return make.data(["best"], f"{len(make.begin) - 1} groups from Python")


@checked
def label_sets(X, y, test=None, feature_names=None) -> Data:
    """Rows with any number of labels each, for max-margin training (loss="hinge").

    X      a matrix, rows x features
    y      a list of the labels of each row, or a 0/1 matrix, rows x labels
    test   (X, y)

    Returns Data."""
    make = _Maker(*_matrix_rows(X, None, feature_names, None, "X"), oracle="labels", format="arff")
    sets = _label_lists(y, make.begin[-1], "y")
    number = _numbers_of(sorted({label for one in sets for label in one}, key=_name), "y")
    make.truth(*_label_truth(sets, number))
    if test is not None:
        test_x, test_y = _parts(test, 2, "(X, y)")
        rows, begin = _matrix_rows(test_x, None, None, make.rows, "test X")
        make.test(rows, begin, *_label_truth(_label_lists(test_y, begin[-1], "test y"), number))
    return make.data([_name(label) for label in number], f"{make.begin[-1]} rows from Python")


class _Maker:
    """Collects the parts of a data set."""

    def __init__(self, rows, begin, oracle, format, options=None):
        if len(begin) < 2:
            raise UsageError("X: found nothing, expected at least one instance")
        self.rows, self.begin, self.oracle, self.format, self.options = rows, begin, oracle, format, options or {}
        self.parents = self.train = self.test_rows = self.test_truth = None

    def truth(self, *parts):
        self.train = _truth(*parts)

    def test(self, rows, begin, *parts):
        self.test_rows, self.test_truth = rows, _truth(*parts)

    def data(self, outputs, description):
        if len(set(outputs)) < len(outputs):
            twice = next(name for i, name in enumerate(outputs) if name in outputs[:i])
            raise UsageError(f"y: found two labels that are written {twice!r}, expected distinct ones")
        return Data(require().make_data(
            rows=self.rows, truth=self.train, outputs=outputs, parents=self.parents, description=description,
            oracle=self.oracle, format=self.format, options=self.options, test_rows=self.test_rows,
            test_truth=self.test_truth))


def _truth(gold, quality=(), label_begin=(), label=()):
    """What is known of the instances beside X: gold outputs, qualities, and sets of labels."""
    return gold, list(quality), list(label_begin), np.asarray(label, dtype=np.int64)


def _parts(test, size, names):
    if not isinstance(test, (tuple, list)) or len(test) != size:
        found = f"{len(test)} parts" if isinstance(test, (tuple, list)) else f"a {type(test).__name__}"
        raise UsageError(f"test: found {found}, expected {names}")
    return test


def _names(files):
    if isinstance(files, str) or hasattr(files, "__fspath__"):
        return [str(files)]
    if not isinstance(files, (list, tuple)):
        raise UsageError(f"files: found a {type(files).__name__}, expected a name or a list of names")
    return [str(one) for one in files]


def _texts(options):
    """Values as the program reads them."""
    return {key: _text(value) for key, value in options.items() if value is not None}


def _text(value):
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, np.ndarray)):
        return ", ".join(_text(one) for one in value)
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _is_number(label):
    return isinstance(label, (int, float, np.integer, np.floating)) and not isinstance(label, bool)


def _name(label):
    return str(label.item() if isinstance(label, np.generic) else label)


def _sequence_rows(X, lengths, feature_names, train, name) -> tuple[Any, np.ndarray]:
    if lengths is not None or _is_matrix(X):
        return _matrix_rows(X, lengths, feature_names, train, name)
    X = _items(X, name)
    for i, one in enumerate(X):
        if isinstance(one, (str, bytes, dict)) or not hasattr(one, "__getitem__") or not hasattr(one, "__len__"):
            raise UsageError(f"{name}[{i}]: found a {type(one).__name__}, expected a list of items, one a position")
        if len(one) == 0:
            raise UsageError(f"{name}[{i}]: found an empty sequence, expected positions")
    begin = np.concatenate([[0], np.cumsum([len(one) for one in X], dtype=np.int64)])
    return require().rows_of_items(list(chain.from_iterable(X)), begin, train, name), begin


def _group_rows(X, lengths, feature_names, train, name) -> tuple[Any, np.ndarray]:
    if _is_matrix(X):
        return _matrix_rows(X, lengths, feature_names, train, name)
    X = _items(X, name)
    begin = _begin_of(lengths, len(X), name)
    return require().rows_of_items(list(X), begin, train, name), begin


def _items(X, name):
    """X as a list or tuple."""
    if isinstance(X, (list, tuple)):
        return X
    if isinstance(X, (str, bytes, dict)) or not hasattr(X, "__iter__") or len(getattr(X, "shape", (0,))) != 1:
        raise UsageError(f"{name}: found a {type(X).__name__}, expected a list, or a matrix")
    return list(X)


def _is_matrix(X):
    return hasattr(X, "shape") and len(X.shape) == 2


def _matrix_rows(X, lengths, feature_names, train, name) -> tuple[Any, np.ndarray]:
    from scipy.sparse import csr_matrix, issparse

    if not issparse(X):
        try:
            X = np.asarray(X)
            X = X if X.dtype.kind in "fiubc" else X.astype(np.float64)
        except (TypeError, ValueError):
            raise UsageError(f"{name}: found values that are no numbers, or rows of different lengths, expected a matrix "
                             "of numbers") from None
        if X.ndim != 2:
            raise UsageError(f"{name}: found an array of {X.ndim} dimensions, expected a matrix")
    if X.dtype.kind not in "fiub":
        raise UsageError(f"{name}: found values of the type {X.dtype}, expected real numbers")
    X = csr_matrix(X)
    _check_entries(X, name)
    begin = np.arange(X.shape[0] + 1) if lengths is None else _begin_of(lengths, X.shape[0], name)
    names = [str(one) for one in (range(X.shape[1]) if feature_names is None else _items(feature_names, "feature_names"))]
    if len(names) != X.shape[1]:
        raise UsageError(f"feature_names: found {len(names)}, expected one for each of {X.shape[1]} columns")
    if len(set(names)) < len(names):
        twice = next(one for i, one in enumerate(names) if one in names[:i])
        raise UsageError(f"feature names: found '{twice}' twice, expected distinct ones")
    if train is not None and X.shape[1] != train.features:
        raise UsageError(f"{name}: found {X.shape[1]} columns, expected {train.features}, as in training")
    return require().rows_of_csr(X.indptr, X.indices, X.data, begin, names, train), begin


def _check_entries(X, name):
    try:
        X.check_format(full_check=True)
    except ValueError as error:
        raise UsageError(f"{name}: found a matrix whose {error}, expected one of a valid format") from None
    large = ~(np.abs(X.data) <= LARGEST_VALUE)
    if large.any():
        at = int(np.argmax(large))
        row = np.searchsorted(X.indptr, at, side="right") - 1
        raise UsageError(f"{name}, row {row}, column {X.indices[at]}: found {X.data[at]:g}, expected finite values up to 1e150")


def _begin_of(lengths, rows, name):
    try:
        lengths = np.asarray(lengths)
    except ValueError:
        lengths = np.empty(0, dtype=object)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or (lengths.size and lengths.min() < 1):
        raise UsageError("lengths: found a number that is no integer above 0, expected positions of each sequence")
    if lengths.sum() != rows:
        raise UsageError(f"lengths: found a sum of {lengths.sum()}, expected {rows}, the rows of {name}")
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _flat(y, begin, name):
    """The labels of all positions, of a flat list or of one list for each instance."""
    rows, instances = int(begin[-1]), len(begin) - 1
    if isinstance(y, np.ndarray) and y.ndim != 1:
        raise UsageError(f"{name}: found an array of {y.ndim} dimensions, expected one label for each position")
    if not isinstance(y, (list, tuple, np.ndarray)):
        if isinstance(y, (str, bytes, dict, set)) or not hasattr(y, "__iter__") or getattr(y, "ndim", 1) != 1:
            raise UsageError(f"{name}: found a {type(y).__name__}, expected a list of labels")
        y = list(y)
    size = len(y)
    nested = size > 0 and isinstance(y[0], (list, tuple, np.ndarray))
    if not nested:
        if size != rows:
            raise UsageError(f"{name}: found {size} labels, expected {rows}, one for each position")
        return _hashable(list(y), name)
    if size != instances:
        raise UsageError(f"{name}: found {size} lists of labels, expected {instances}, one for each sequence")
    for i, one in enumerate(y):
        if not isinstance(one, (list, tuple, np.ndarray)):
            raise UsageError(f"{name}[{i}]: found a {type(one).__name__}, expected a list of labels")
        if len(one) != begin[i + 1] - begin[i]:
            raise UsageError(f"{name}[{i}]: found {len(one)} labels, expected {begin[i + 1] - begin[i]}, one for each "
                             "position")
    return _hashable(list(chain.from_iterable(y)), name)


def _hashable(labels, name):
    try:
        set(labels)
    except TypeError as error:
        raise UsageError(f"{name}: found a label that is {error}, expected strings or numbers") from None
    return labels


def _numbers_of(labels, name):
    """A dict from each label to its number, in order of first appearance."""
    for i, label in enumerate(labels):
        if label is None or label != label:
            raise UsageError(f"{name}: found {label} as label {i}, expected labels")
    return {label: number for number, label in enumerate(dict.fromkeys(labels))}


def _gold(labels, number, unknown=None):
    out = np.fromiter((number.get(label, UNKNOWN) for label in labels), dtype=np.int64, count=len(labels))
    if unknown is None and (out == UNKNOWN).any():
        raise UsageError(f"y: found label {labels[int(np.argmax(out == UNKNOWN))]!r}, expected one of the hierarchy")
    return out


def _preorder(hierarchy):
    """Numbers and parents of the nodes, in preorder."""
    if not isinstance(hierarchy, dict):
        raise UsageError(f"hierarchy: found a {type(hierarchy).__name__}, expected a dict from each node to its parent")
    children: dict = {}
    for node, parent in hierarchy.items():
        children.setdefault(parent, []).append(node)
        if parent is not None and parent not in hierarchy:
            raise UsageError(f"hierarchy: found the parent {parent!r} of {node!r}, expected it among the nodes, too")
    number: dict = {}
    parents: list[int] = []
    stack = [(node, 0xFFFFFFFF) for node in reversed(children.get(None, []))]
    while stack:
        node, parent = stack.pop()
        number[node] = len(parents)
        parents.append(parent)
        stack.extend((child, number[node]) for child in reversed(children.get(node, [])))
    if len(number) != len(hierarchy):
        raise UsageError("hierarchy: found nodes that no top node leads to, expected a parent of None at the top")
    return number, parents


def _best(quality, begin, name):
    """Gold candidates and qualities."""
    try:
        quality = np.asarray(quality, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: found values that are no numbers, expected a number for each candidate") from None
    if quality.shape != (int(begin[-1]),):
        raise UsageError(f"{name}: found shape {quality.shape}, expected ({begin[-1]},), a number for each candidate")
    if not np.isfinite(quality).all():
        raise UsageError(f"{name}: found {quality[~np.isfinite(quality)][0]}, expected finite numbers")
    gold = np.full(len(quality), NONE, dtype=np.int64)
    for first, last in zip(begin, begin[1:]):
        gold[first + int(np.argmax(quality[first:last]))] = 0
    return gold, list(quality)


def _label_lists(y, rows, name):
    if hasattr(y, "toarray"):
        y = y.toarray()
    if isinstance(y, np.ndarray) and y.ndim == 2:
        y = [list(np.flatnonzero(one)) for one in y]
    y = _items(y, name)
    if len(y) != rows:
        raise UsageError(f"{name}: found {len(y)} sets of labels, expected {rows}, one for each row")
    for i, one in enumerate(y):
        if isinstance(one, (str, bytes)) or not hasattr(one, "__iter__"):
            raise UsageError(f"{name}[{i}]: found a {type(one).__name__}, expected a list of labels")
    return [_hashable(list(one), name) for one in y]


def _label_truth(sets, number):
    begin, labels = [0], []
    for one in sets:
        labels.extend(sorted({number[label] for label in one if label in number}))
        begin.append(len(labels))
    return np.full(len(sets), NONE, dtype=np.int64), [], begin, np.asarray(labels, dtype=np.int64)
