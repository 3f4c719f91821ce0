"""Estimators with the conventions of scikit-learn: a linear-chain CRF, and logistic regression."""
from itertools import chain

import numpy as np

from .datasets import _items, _name, _preorder, classes, sequences
from .errors import UsageError
from .training import _real, train

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_array
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d
except ImportError as missing:
    raise UsageError(f"the estimators of proxbench need scikit-learn ({missing}): install python3-sklearn") from None

_NEEDS_SEQUENCES = "fits a matrix; X of a CRF is a list of sequences of dicts or of lists of strings"
_ANY_MATRIX = "asks for a message about the numbers of a matrix; a CRF rejects any matrix, with a message of its own"

#: The checks of scikit-learn 1.2.1 that do not apply to a CRF.
_CRF_XFAIL = {
    "check_complex_data": _ANY_MATRIX,
    "check_dict_unchanged": _NEEDS_SEQUENCES,
    "check_dont_overwrite_parameters": _NEEDS_SEQUENCES,
    "check_dtype_object": _NEEDS_SEQUENCES,
    "check_estimator_sparse_data": _NEEDS_SEQUENCES,
    "check_estimators_dtypes": _NEEDS_SEQUENCES,
    "check_estimators_empty_data_messages": _ANY_MATRIX,
    "check_estimators_fit_returns_self": _NEEDS_SEQUENCES,
    "check_estimators_nan_inf": _ANY_MATRIX,
    "check_estimators_overwrite_params": _NEEDS_SEQUENCES,
    "check_estimators_pickle": _NEEDS_SEQUENCES,
    "check_fit2d_1feature": _ANY_MATRIX,
    "check_fit2d_1sample": _ANY_MATRIX,
    "check_fit2d_predict1d": _NEEDS_SEQUENCES,
    "check_fit_check_is_fitted": _NEEDS_SEQUENCES,
    "check_fit_idempotent": _NEEDS_SEQUENCES,
    "check_fit_score_takes_y": _NEEDS_SEQUENCES,
    "check_methods_sample_order_invariance": _NEEDS_SEQUENCES,
    "check_methods_subset_invariance": _NEEDS_SEQUENCES,
    "check_n_features_in": _NEEDS_SEQUENCES,
    "check_pipeline_consistency": _NEEDS_SEQUENCES,
}


class WrongType(UsageError, TypeError):
    """What scikit-learn reports as a TypeError: it is both."""


class _Trainer(BaseEstimator):
    """What both estimators do: training, and its results."""

    def __sklearn_is_fitted__(self):
        """Asked for by check_is_fitted, since `lambda_` ends with the mark of what fit() sets."""
        return hasattr(self, "result_")

    def _train(self, data, lambda_, mu, **settings):
        options = {} if self.options is None else self.options
        if not isinstance(options, dict):
            raise UsageError(f"options: found a {type(options).__name__}, expected a dict of options of the solver")
        result = train(data, lambda_=lambda_, mu=mu, solver=self.solver, gap=self.gap, tol=self.tol,
                       threads=self.threads, seed=_seed(self.random_state), time_limit=self.time_limit,
                       max_iterations=self.max_iterations, settings=settings, **options)
        self.result_ = result.without_data()
        self.model_ = self.result_.model
        self.n_iter_ = int(result.iterations)
        self.certified_gap_ = float(result.relative_gap)
        return result


class CRF(_Trainer):
    """A linear-chain conditional random field, on the data of sklearn-crfsuite. It minimises

        F(w) = sum over sequences of -log p(y|x) + lambda ||w||_1 + (mu/2) ||w||^2

    There is a weight for every pair of an attribute and a label, and for every pair of labels: sklearn-crfsuite does so
    with all_possible_states and all_possible_transitions. Weights of 0 are not listed.

    lambda_, mu      weights of the penalties. If one is given, the other is 0
    c1, c2           their equals in sklearn-crfsuite: lambda = c1, mu = 2 c2. Without any of the four: c1 = 0, c2 = 1,
                     as there
    loss, cost       "log", or "hinge" with the cost "hamming" or "hamming-mean" (max-margin training, needs lambda = 0)
    solver           a name of `proxbench.solvers()`; None: the best one known for this problem
    gap              stop once this relative gap (F - lower bound) / F is proven
    tol              stop once kkt <= tol * (kkt at w = 0); default 1e-6, or 0 if `gap` is given
    max_iterations, time_limit   further ends; time in seconds
    threads          0: all cores. The result has the same bits for any number
    random_state     an int or RandomState: the seed of stochastic solvers. None: 1
    options          a dict of options of the solver

    After `fit`:
    classes_              labels, in order of first appearance, a list
    state_features_       a dict from (attribute, label) to the weight, without zeros
    transition_features_  a dict from (label, next label) to the weight, without zeros
    certified_gap_        the relative gap that is proven: (F - lower bound) / F
    n_iter_               iterations of the solver
    result_               proxbench.Result: status, objective, lower_bound, trace, ...
    model_                proxbench.Model: save, nbest, ...

    Sample weights are not supported."""

    def __init__(self, lambda_=None, mu=None, c1=None, c2=None, loss="log", cost=None, solver=None, gap=None, tol=None,
                 max_iterations=None, time_limit=None, threads=1, random_state=None, options=None):
        self.lambda_ = lambda_
        self.mu = mu
        self.c1 = c1
        self.c2 = c2
        self.loss = loss
        self.cost = cost
        self.solver = solver
        self.gap = gap
        self.tol = tol
        self.max_iterations = max_iterations
        self.time_limit = time_limit
        self.threads = threads
        self.random_state = random_state
        self.options = options

    def fit(self, X, y, X_dev=None, y_dev=None, **unsupported):
        """Trains.

        X              a list of sequences; each is a list of items, one a position: a dict (values are numbers, bools,
                       strings, lists of strings or dicts), or a list of strings
        y              a list of lists of labels
        X_dev, y_dev   held-out sequences: `result_.trace` has their accuracy. Training does not use them

        Returns self. Raises proxbench.Error."""
        _reject(unsupported)
        lambda_, mu = self._penalty()
        if y is None:
            raise UsageError("requires y to be passed, but the target y is None: expected a list of lists of labels")
        _require_sequences(X, "X")
        if (X_dev is None) != (y_dev is None):
            raise UsageError("X_dev, y_dev: found one of them, expected both or none")
        test = None
        if X_dev is not None:
            _require_sequences(X_dev, "X_dev")
            test = (X_dev, y_dev)
        data = sequences(X, y, test=test)
        self._train(data, lambda_, mu, loss=self.loss, cost=self.cost)
        self.classes_ = list(dict.fromkeys(chain.from_iterable(y)))
        return self

    def predict(self, X):
        """The most probable label sequence of each sequence, a list of lists of labels."""
        outputs, label_of = self._apply(X)
        labels = [label_of[k] for k in outputs.outputs()]
        return _cut(labels, X)

    def predict_single(self, xseq):
        """`predict` of one sequence, a list of labels."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X):
        """For each position of each sequence, a dict from label to its probability: a list of lists of dicts."""
        outputs, label_of = self._apply(X)
        return _cut([dict(zip(label_of, row)) for row in outputs.marginals().tolist()], X)

    def predict_marginals_single(self, xseq):
        """`predict_marginals` of one sequence, a list of dicts."""
        return self.predict_marginals([xseq])[0]

    def score(self, X, y, **unsupported):
        """The share of positions with the right label."""
        _reject(unsupported)
        predicted = self.predict(X)
        y = _items(y, "y")
        if len(y) != len(predicted):
            raise UsageError(f"y: found {len(y)} lists of labels, expected {len(predicted)}, one for each sequence")
        right = total = 0
        for i, (found, gold) in enumerate(zip(predicted, y)):
            gold = _items(gold, f"y[{i}]")
            if len(found) != len(gold):
                raise UsageError(f"y[{i}]: found {len(gold)} labels, expected {len(found)}, one for each position")
            right += sum(a == b for a, b in zip(found, gold))
            total += len(found)
        return right / total

    @property
    def state_features_(self):
        check_is_fitted(self)
        return self._by_label(self.model_.state_features_, lambda key, names: (key[0], names[key[1]]))

    @property
    def transition_features_(self):
        check_is_fitted(self)
        return self._by_label(self.model_.transition_features_, lambda key, names: (names[key[0]], names[key[1]]))

    def _by_label(self, weights, rename):
        names = self._label_of_name()
        return {rename(key, names): weight for key, weight in weights.items()}

    def _label_of_name(self):
        return {str(label): label for label in self.classes_}

    def _apply(self, X):
        """X with the model applied, and the label of each output."""
        check_is_fitted(self)
        _require_sequences(X, "X")
        names = self._label_of_name()
        return self.model_.applied(X, threads=self.threads), [names[name] for name in self.model_.labels_]

    def _penalty(self):
        """(lambda, mu)."""
        for ours, theirs in (("lambda_", "c1"), ("mu", "c2")):
            if getattr(self, ours) is not None and getattr(self, theirs) is not None:
                raise UsageError(f"{ours}, {theirs}: found both, expected one of them: they are the same penalty "
                                 "(lambda = c1, mu = 2 c2)")
        by_our_names = self.lambda_ is not None or self.mu is not None
        c1 = (0.0 if self.lambda_ is None else self.lambda_) if self.c1 is None else self.c1
        if self.mu is not None:
            return c1, self.mu
        c2 = (0.0 if by_our_names else 1.0) if self.c2 is None else self.c2
        return c1, 2.0 * _real("c2", c2)

    def _more_tags(self):
        return {"X_types": ["dict", "string"], "requires_y": True, "_xfail_checks": _CRF_XFAIL}


class LogisticRegression(ClassifierMixin, _Trainer):
    """Multinomial logistic regression, flat or with a hierarchy of classes. It minimises

        F(w) = sum over rows of -log p(y|x) + lambda ||w||_1 + (mu/2) ||w||^2,    p(y|x) = exp(score of y) / Z

    with a weight vector for each class, also if there are two. With a hierarchy each node has one, and the score of a
    class is the sum along its path.

    Beside scikit-learn's LogisticRegression with its C, and without intercept: lambda = 1/C for l1; mu = 1/C for l2
    with three classes or more, and mu = 2/C with two, where scikit-learn has one weight vector.

    lambda_, mu      weights of the penalties, at least one above 0
    bias             value of a constant feature, which gives the intercept; 0: none. Its weights are penalised like all
                     others, as in LIBLINEAR; a large value makes that small
    hierarchy        a dict from each class or inner node to its parent, or to None at the top. Classes are the leaves
    loss             "log", or "hinge" (max margin, needs lambda = 0; probabilities then mean nothing)
    solver           a name of `proxbench.solvers()`; None: the best one known for this problem
    gap              stop once this relative gap (F - lower bound) / F is proven
    tol              stop once kkt <= tol * (kkt at w = 0); default 1e-6, or 0 if `gap` is given
    max_iterations, time_limit   further ends; time in seconds
    threads          0: all cores. The result has the same bits for any number
    random_state     an int or RandomState: the seed of stochastic solvers. None: 1
    options          a dict of options of the solver

    After `fit`:
    classes_         classes in order, an array; with a hierarchy its leaves
    coef_            weights, classes x features; of two classes one row, that of the second minus that of the first.
                     With a hierarchy: the sums along paths
    intercept_       one number for each row of coef_
    certified_gap_   the relative gap that is proven: (F - lower bound) / F
    n_iter_          iterations of the solver
    result_          proxbench.Result: status, objective, lower_bound, trace, w, ...
    model_           proxbench.Model: weights by names of features and nodes, save, ...

    Sample weights are not supported."""

    def __init__(self, lambda_=0.0, mu=1.0, bias=1.0, hierarchy=None, loss="log", solver=None, gap=None, tol=None,
                 max_iterations=None, time_limit=None, threads=1, random_state=None, options=None):
        self.lambda_ = lambda_
        self.mu = mu
        self.bias = bias
        self.hierarchy = hierarchy
        self.loss = loss
        self.solver = solver
        self.gap = gap
        self.tol = tol
        self.max_iterations = max_iterations
        self.time_limit = time_limit
        self.threads = threads
        self.random_state = random_state
        self.options = options

    def fit(self, X, y, **unsupported):
        """Trains.

        X   a matrix, rows x features: NumPy, SciPy or pandas
        y   a class for each row

        Returns self. Raises proxbench.Error."""
        _reject(unsupported)
        bias = _real("bias", self.bias)
        X = self._rows(X, reset=True)
        if y is None:
            raise UsageError("requires y to be passed, but the target y is None: expected a class for each row")
        y = self._classes_of(y, X.shape[0])
        data = classes(_with_bias(X, bias), y.tolist(), hierarchy=self.hierarchy)
        result = self._train(data, self.lambda_, self.mu, loss=self.loss)
        weights = result.coefficients.reshape(-1, len(data.labels_)).T
        if self.hierarchy is None:
            self.classes_ = np.unique(y)
            number = {name: k for k, name in enumerate(data.labels_)}
            weights = weights[[number[_name(label)] for label in self.classes_.tolist()]]
            if len(self.classes_) == 2:
                weights = weights[1:] - weights[:1]
        else:
            self.classes_, paths = _leaves(self.hierarchy)
            weights = paths @ weights
        self.coef_ = np.ascontiguousarray(weights[:, :X.shape[1]])
        self.intercept_ = weights[:, X.shape[1]] * bias if bias else np.zeros(len(weights))
        return self

    def decision_function(self, X):
        """Scores of classes, rows x classes; of two classes one number a row, that of the second minus that of the
        first."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores.ravel() if self._binary() else scores

    def predict(self, X):
        """The most probable class of each row, an array."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if self._binary() else scores.argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X):
        """Probabilities, rows x classes."""
        scores = self.decision_function(X)
        if self._binary():
            scores = np.column_stack([np.zeros(len(scores)), scores])
        out = np.exp(scores - scores.max(axis=1, keepdims=True))
        return out / out.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X, y, **unsupported):
        """The share of rows whose class is right."""
        _reject(unsupported)
        predicted = self.predict(X)
        return float(np.mean(predicted == self._classes_of(y, len(predicted))))

    def _binary(self):
        return len(self.classes_) == 2 and len(self.coef_) == 1

    def _rows(self, X, reset):
        try:
            return self._validate_data(X, accept_sparse="csr", dtype=np.float64, reset=reset)
        except ValueError as error:
            raise UsageError(f"X: {error}") from None
        except TypeError as error:
            raise WrongType(f"X: {error}") from None

    def _classes_of(self, y, rows):
        try:
            y = column_or_1d(y, warn=True)
            if y.dtype.kind == "f":
                check_array(y.reshape(-1, 1), input_name="y")
            check_classification_targets(y)
        except ValueError as error:
            raise UsageError(f"y: {error}") from None
        except TypeError as error:
            raise WrongType(f"y: {error}") from None
        if len(y) != rows:
            raise UsageError(f"y: found {len(y)} classes, expected {rows}, one for each row")
        return y

    def _more_tags(self):
        return {"requires_y": True}


def _reject(unsupported):
    for name in unsupported:
        if name == "sample_weight":
            raise UsageError("sample_weight: found weights, expected none: every sequence or row counts once")
        raise UsageError(f"found an unknown argument '{name}', expected none")


def _seed(random_state):
    if random_state is None:
        return 1
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    if not isinstance(random_state, np.random.RandomState):
        raise UsageError(f"random_state: found {random_state!r}, expected None, an integer of at least 0 or a "
                         "RandomState")
    return int(random_state.randint(1, np.iinfo(np.int32).max))


def _require_sequences(X, name):
    if hasattr(X, "shape") and len(X.shape) != 1:
        raise UsageError(f"{name}: found an array of shape {X.shape}, expected a list of sequences of items (Reshape "
                         "your data: one list of dicts, or of lists of strings, for each sequence)")
    if isinstance(X, (str, bytes, dict)) or not hasattr(X, "__len__"):
        raise UsageError(f"{name}: found a {type(X).__name__}, expected a list of sequences of items")


def _cut(flat, X):
    """A list for each position, as one for each sequence."""
    out, at = [], 0
    for one in X:
        out.append(flat[at:at + len(one)])
        at += len(one)
    return out


def _with_bias(X, bias):
    """X with the constant feature as its last column."""
    from scipy.sparse import csr_matrix, hstack, issparse

    if not bias:
        return X
    constant = np.full((X.shape[0], 1), bias)
    return hstack([X, csr_matrix(constant)], format="csr") if issparse(X) else np.hstack([X, constant])


def _leaves(hierarchy):
    """The leaves in order, and for each a row that sums the weights along its path."""
    from scipy.sparse import csr_matrix

    number, _ = _preorder(hierarchy)
    inner = set(hierarchy.values())
    leaves = [node for node in hierarchy if node not in inner]
    order, at = np.unique(np.asarray(leaves), return_index=True)
    rows, columns = [], []
    for row, leaf in enumerate(at):
        node = leaves[leaf]
        while node is not None:
            rows.append(row)
            columns.append(number[node])
            node = hierarchy[node]
    return order, csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(leaves), len(number)))
