"""Tests of the estimators: the checks of scikit-learn, scikit-learn's own LogisticRegression, and enumeration."""
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import proxbench

pytest.importorskip("proxbench._core", reason="the compiled module was not built")
pytest.importorskip("sklearn")
sparse = pytest.importorskip("scipy.sparse")
from sklearn import linear_model  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks  # noqa: E402

from proxbench.test_training import dicts, enumerated, matrix  # noqa: E402

X, Y = dicts()


class CheckedCRF(proxbench.CRF):
    """Claims that it takes a matrix and passes all checks, so that scikit-learn generates them all."""

    def _more_tags(self):
        return {"X_types": ["2darray"], "_xfail_checks": {}}


class CRFOfRows(CheckedCRF):
    """A CRF that takes each row of a matrix as a sequence of one position, so that the checks can run."""

    def _sequences(self, rows, reset):
        rows = self._validate_data(rows, reset=reset)
        return [[{str(j): float(value) for j, value in enumerate(row)}] for row in rows]

    def fit(self, X, y=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        sequences = self._sequences(X, True)
        return super().fit(sequences, [[label] for label in self._validate_data(y=y, X="no_validation").tolist()])

    def predict(self, X):
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("not fitted")
        return np.array([one[0] for one in super().predict(self._sequences(X, False))])

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


def name_of(check):
    function = check.func
    return getattr(function, "__name__", None) or function.func.__name__


CRF_CHECKS = [check for _, check in check_estimator(CheckedCRF(), generate_only=True)]
NOT_OF_CRF = proxbench.CRF()._get_tags()["_xfail_checks"]


def test_logistic_regression_passes_check_estimator_whole():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        check_estimator(proxbench.LogisticRegression(threads=1))


@pytest.mark.parametrize("check", CRF_CHECKS, ids=name_of)
def test_crf_passes_all_checks_but_those_it_lists(check):
    if name_of(check) not in NOT_OF_CRF:
        check(CheckedCRF())
        return
    with pytest.raises(Exception):
        check(CheckedCRF())


def test_each_check_that_crf_lists_has_a_reason():
    assert set(NOT_OF_CRF) <= set(map(name_of, CRF_CHECKS)) and all(NOT_OF_CRF.values())


@parametrize_with_checks([CRFOfRows()])
def test_crf_of_rows_passes_each_check(estimator, check):
    check(estimator)


def test_crf_is_the_training_of_its_data():
    crf = proxbench.CRF(lambda_=0.3, mu=0.1).fit(X, Y)
    data = proxbench.sequences(X, Y)
    result = proxbench.train(data, lambda_=0.3, mu=0.1)
    assert (crf.result_.coefficients == result.coefficients).all()
    assert crf.predict(X) == result.model.predict(data) and crf.predict_single(X[0]) == crf.predict(X)[0]
    assert crf.state_features_ == result.model.state_features_
    assert crf.transition_features_ == result.model.transition_features_
    assert crf.classes_ == data.labels_ and crf.n_iter_ == result.iterations
    assert crf.certified_gap_ == result.relative_gap and 0 <= crf.certified_gap_ < 1e-5
    right = [a == b for found, gold in zip(crf.predict(X), Y) for a, b in zip(found, gold)]
    assert crf.score(X, Y) == np.mean(right)
    assert crf.result_.status == "converged" and len(crf.result_.trace) > 0


def test_marginals_of_crf_are_those_of_enumeration():
    crf = proxbench.CRF(mu=0.5).fit(X, Y)
    _, expected = enumerated(proxbench.sequences(X, Y), crf.result_.coefficients)
    found = crf.predict_marginals(X)
    assert [len(one) for one in found] == [len(one) for one in X]
    flat = [p for one in found for p in one]
    np.testing.assert_allclose([[p[label] for label in crf.classes_] for p in flat], expected, atol=1e-10)
    assert crf.predict_marginals_single(X[3]) == pytest.approx(found[3])


def test_items_may_be_lists_of_strings():
    names = [[[f"{key}={value}" for key, value in item.items()] for item in one] for one in X]
    as_dicts = [[{f"{key}={value}": 1.0 for key, value in item.items()} for item in one] for one in X]
    one, two = (proxbench.CRF(lambda_=0.2).fit(given, Y) for given in (names, as_dicts))
    assert one.state_features_ == two.state_features_ and one.predict(names) == two.predict(as_dicts)


@pytest.mark.parametrize("ours, theirs", [
    ({"lambda_": 0.4, "mu": 0.2}, {"c1": 0.4, "c2": 0.1}),
    ({"lambda_": 0.4}, {"c1": 0.4, "c2": 0.0}),
    ({"lambda_": 0.4, "mu": 2.0}, {"c1": 0.4}),
    ({"mu": 2.0}, {}),
    ({"mu": 0.5}, {"c2": 0.25}),
    ({"lambda_": 0.4, "mu": 0.2}, {"lambda_": 0.4, "c2": 0.1}),
])
def test_c1_and_c2_are_those_of_sklearn_crfsuite(ours, theirs):
    one, two = (proxbench.CRF(**given).fit(X, Y) for given in (ours, theirs))
    assert (one.result_.coefficients == two.result_.coefficients).all()
    assert (two.result_.summary["lambda"], two.result_.mu) == (ours.get("lambda_", 0), ours.get("mu", 0))


def test_labels_of_other_types_come_back():
    numbers = {"B": 1, "I": 2, "O": 3}
    crf = proxbench.CRF().fit(X, [[numbers[label] for label in one] for one in Y])
    assert set(crf.classes_) == {1, 2, 3}
    assert {type(label) for one in crf.predict(X) for label in one} == {int}
    assert set(crf.predict_marginals_single(X[0])[0]) == {1, 2, 3}
    assert {label for _, label in crf.state_features_} <= {1, 2, 3}


def test_crf_measures_held_out_sequences():
    crf = proxbench.CRF().fit(X[:8], Y[:8], X[8:], Y[8:])
    assert crf.result_.test_accuracy == pytest.approx(crf.score(X[8:], Y[8:]))
    assert (crf.result_.coefficients == proxbench.CRF().fit(X[:8], Y[:8]).result_.coefficients).all()
    unseen = proxbench.CRF().fit(X[:8], Y[:8], X[8:9], [["new"] * len(Y[8])])
    assert unseen.result_.test_accuracy == 0.0 and "new" not in unseen.classes_


@pytest.mark.parametrize("estimator, data", [
    (proxbench.CRF(lambda_=0.3), (X, Y)),
    (proxbench.LogisticRegression(lambda_=0.3, mu=0.0), matrix()),
    (proxbench.LogisticRegression(hierarchy={"in": None, "B": "in", "I": "in", "O": None}), matrix()),
])
def test_estimators_are_pickled_cloned_and_fitted_again(estimator, data):
    fitted = clone(estimator).fit(*data)
    copy = pickle.loads(pickle.dumps(fitted))
    assert list(map(list, copy.predict(data[0]))) == list(map(list, fitted.predict(data[0])))
    assert copy.result_.objective == fitted.result_.objective and copy.certified_gap_ == fitted.certified_gap_
    copy.set_params(lambda_=3.0).fit(*data)
    assert copy.result_.nnz < fitted.result_.nnz
    copy.set_params(lambda_=estimator.lambda_).fit(*data)
    assert (copy.result_.coefficients == fitted.result_.coefficients).all()
    assert not hasattr(clone(fitted), "result_") and clone(fitted).get_params() == estimator.get_params()


def test_the_seed_is_that_of_the_solver():
    def fit(seed):
        return proxbench.CRF(mu=0.5, solver="sdca", max_iterations=3, random_state=seed).fit(X, Y).result_.coefficients

    assert (fit(3) == fit(3)).all() and (fit(3) != fit(4)).any() and (fit(None) == fit(1)).all()
    assert (fit(np.random.RandomState(5)) == fit(np.random.RandomState(5))).all()


def test_options_reach_the_solver():
    crf = proxbench.CRF(lambda_=0.3, solver="owl-qn", options={"memory": 3}).fit(X, Y)
    assert crf.result_.options["memory"] == "3" and crf.result_.solver == "owl-qn"


def test_pipelines_and_grid_search():
    search = GridSearchCV(proxbench.CRF(), {"c1": [0.1, 1.0], "c2": [0.1]}, cv=3).fit(X, Y)
    assert search.best_params_["c1"] in (0.1, 1.0) and len(search.predict(X)) == len(X)
    upper = FunctionTransformer(lambda sequences: [[{"word": item["word"]} for item in one] for one in sequences])
    assert len(make_pipeline(upper, proxbench.CRF()).fit(X, Y).predict(X)) == len(X)
    rows, classes = matrix()
    pipe = make_pipeline(StandardScaler(), proxbench.LogisticRegression())
    assert 0 <= cross_val_score(pipe, rows, classes, cv=3).mean() <= 1


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_grid_search_in_processes(backend):
    done = subprocess.run([sys.executable, "-c", f"""
import joblib, proxbench
from sklearn.model_selection import GridSearchCV
from proxbench.test_training import dicts
if __name__ == "__main__":
    X, y = dicts(20)
    def search(jobs):
        return GridSearchCV(proxbench.CRF(threads=2), {{"c1": [0.1, 1.0]}}, cv=2, n_jobs=jobs).fit(X, y)
    here = search(None)
    with joblib.parallel_backend("{backend}"):
        there = search(2)
    print((here.cv_results_["mean_test_score"] == there.cv_results_["mean_test_score"]).all())
    print((here.best_estimator_.result_.coefficients == there.best_estimator_.result_.coefficients).all())
"""], capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ, PYTHONFAULTHANDLER="1"))
    assert done.stdout.split() == ["True", "True"], done.stderr


def rows_and_classes(count):
    random = np.random.RandomState(count)
    rows = random.normal(size=(80, 5))
    return rows, (rows @ random.normal(size=(5, count)) + random.gumbel(size=(80, count))).argmax(axis=1)


def objective(rows, classes, weights, lambda_, mu):
    """F, in NumPy."""
    scores = rows @ weights.T
    top = scores.max(axis=1)
    losses = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - scores[np.arange(len(rows)), classes]
    return losses.sum() + lambda_ * np.abs(weights).sum() + mu / 2 * np.square(weights).sum()


@pytest.mark.parametrize("penalty, count", [("l2", 3), ("l2", 2), ("l1", 3), ("l1", 2)])
def test_logistic_regression_reaches_the_objective_of_scikit_learn(penalty, count):
    rows, classes = rows_and_classes(count)
    C = 0.7
    if penalty == "l2":
        lambda_, mu = 0.0, (2 if count == 2 else 1) / C
        # With 'multinomial', scikit-learn has two weight vectors that differ in sign alone for two classes, too.
        theirs = linear_model.LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10000,
                                                 multi_class="ovr" if count == 2 else "multinomial")
    else:
        lambda_, mu = 1 / C, 0.0
        solver = {"solver": "liblinear"} if count == 2 else {"solver": "saga", "multi_class": "multinomial"}
        theirs = linear_model.LogisticRegression(penalty="l1", C=C, fit_intercept=False, tol=1e-8, max_iter=100000,
                                                 random_state=1, **solver)
    theirs.fit(rows, classes)
    ours = proxbench.LogisticRegression(lambda_=lambda_, mu=mu, bias=0, tol=1e-10).fit(rows, classes)
    if count == 2 and penalty == "l1":
        halves = np.vstack([np.zeros_like(theirs.coef_), theirs.coef_])
    else:
        halves = np.vstack([-theirs.coef_ / 2, theirs.coef_ / 2]) if count == 2 else theirs.coef_
    expected = objective(rows, classes, halves, lambda_, mu)
    assert ours.result_.objective == pytest.approx(expected, rel=1e-6)
    assert ours.result_.lower_bound <= expected and ours.result_.objective <= expected * (1 + 1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-3)


def test_the_bias_is_a_constant_feature():
    rows, classes = rows_and_classes(3)
    ours = proxbench.LogisticRegression(bias=2.0).fit(rows, classes)
    more = proxbench.LogisticRegression(bias=0).fit(np.hstack([rows, np.full((len(rows), 1), 2.0)]), classes)
    assert (ours.coef_ == more.coef_[:, :-1]).all() and (ours.intercept_ == 2.0 * more.coef_[:, -1]).all()
    assert (more.intercept_ == 0).all()
    assert ours.coef_.shape == (3, 5) and ours.intercept_.shape == (3,)


def test_sparse_rows_give_the_same_model():
    rows, classes = matrix()
    one, two = (proxbench.LogisticRegression(lambda_=0.1).fit(given, classes)
                for given in (rows, sparse.csr_matrix(rows)))
    assert (one.coef_ == two.coef_).all()
    np.testing.assert_allclose(one.predict_proba(rows), two.predict_proba(sparse.csc_matrix(rows)), rtol=1e-12)


def test_classes_keep_their_names_and_order():
    rows, _ = rows_and_classes(3)
    for names in (["b", "c", "a"], [3, 1, 2], [2.0, 0.0, 1.0]):
        classes = np.array(names)[np.arange(len(rows)) % 3]
        ours = proxbench.LogisticRegression(lambda_=0.1).fit(rows, classes)
        assert list(ours.classes_) == sorted(names) and set(ours.predict(rows)) <= set(names)
        marginals = ours.model_.marginals(proxbench.classes(np.hstack([rows, np.ones((len(rows), 1))]), classes))
        order = [ours.model_.labels_.index(str(name)) for name in sorted(names)]
        np.testing.assert_allclose(ours.predict_proba(rows), marginals[:, order], atol=1e-12)


def test_a_hierarchy_is_its_enumeration():
    rows, classes = matrix()
    hierarchy = {"in": None, "B": "in", "I": "in", "O": None}
    ours = proxbench.LogisticRegression(lambda_=0.05, mu=0.1, hierarchy=hierarchy, tol=1e-10).fit(rows, classes)
    assert list(ours.classes_) == ["B", "I", "O"] and ours.coef_.shape == (3, rows.shape[1])
    data = proxbench.classes(np.hstack([rows, np.ones((len(rows), 1))]), classes, hierarchy=hierarchy)
    node = dict(zip(data.labels_, ours.result_.coefficients.reshape(-1, 4).T))
    paths = {"B": node["in"] + node["B"], "I": node["in"] + node["I"], "O": node["O"]}
    scores = np.hstack([rows, np.ones((len(rows), 1))]) @ np.array([paths[name] for name in ours.classes_]).T
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ours.predict_proba(rows), expected, rtol=1e-9)
    gold = [list(ours.classes_).index(name) for name in classes]
    weights = np.concatenate(list(node.values()))
    F = -np.log(expected[np.arange(len(rows)), gold]).sum()
    F += 0.05 * np.abs(weights).sum() + 0.1 / 2 * np.square(weights).sum()
    assert ours.result_.objective == pytest.approx(F, rel=1e-10)
    assert (ours.predict(rows) == ours.classes_[expected.argmax(axis=1)]).all()


def test_one_class_is_always_predicted():
    rows, _ = matrix()
    ours = proxbench.LogisticRegression().fit(rows, ["only"] * len(rows))
    assert set(ours.predict(rows)) == {"only"} and (ours.predict_proba(rows) == 1).all()


ROWS, CLASSES = matrix()


@pytest.mark.parametrize("call, found", [
    (lambda: proxbench.CRF(lambda_=1, c1=1).fit(X, Y), "lambda_, c1: found both"),
    (lambda: proxbench.CRF(mu=1, c2=1).fit(X, Y), "mu, c2: found both"),
    (lambda: proxbench.CRF(c2="x").fit(X, Y), "c2: found 'x'"),
    (lambda: proxbench.CRF(c1=-1).fit(X, Y), "-1"),
    (lambda: proxbench.CRF(c1=0, c2=0).fit(X, Y), "lambda"),
    (lambda: proxbench.CRF(solver="nothing").fit(X, Y), "nothing"),
    (lambda: proxbench.CRF(options={"nothing": 1}).fit(X, Y), "nothing"),
    (lambda: proxbench.CRF(options=[1]).fit(X, Y), "options: found a list"),
    (lambda: proxbench.CRF(random_state="x").fit(X, Y), "random_state: found 'x'"),
    (lambda: proxbench.CRF().fit(X, Y, sample_weight=[1] * len(X)), "sample_weight: found weights"),
    (lambda: proxbench.CRF().fit(X, Y, weights=1), "unknown argument 'weights'"),
    (lambda: proxbench.CRF().fit(X, Y[:-1]), "found 11 lists of labels, expected 12"),
    (lambda: proxbench.CRF().fit(X, [one[:-1] for one in Y]), r"y\[0\]"),
    (lambda: proxbench.CRF().fit(X, None), "requires y"),
    (lambda: proxbench.CRF().fit([], []), "found nothing"),
    (lambda: proxbench.CRF().fit(np.eye(3), [1, 2, 3]), r"array of shape \(3, 3\), expected a list of sequences"),
    (lambda: proxbench.CRF().fit(X, Y, X), "X_dev, y_dev: found one"),
    (lambda: proxbench.CRF().fit(X + [[]], Y + [[]]), r"X\[12\]: found an empty sequence"),
    (lambda: proxbench.CRF().fit(X, Y).predict([[]]), r"X\[0\]: found an empty sequence"),
    (lambda: proxbench.CRF().fit(X, Y).predict([[{"a": np.nan}]]), "nan"),
    (lambda: proxbench.CRF().fit(X, Y).predict("abc"), "found a str"),
    (lambda: proxbench.CRF().fit(X, Y).score(X, Y[:2]), "found 2 lists of labels, expected 12"),
    (lambda: proxbench.LogisticRegression().fit(ROWS, CLASSES, sample_weight=ROWS[:, 0]), "sample_weight: found"),
    (lambda: proxbench.LogisticRegression(bias=-1).fit(ROWS, CLASSES), "bias: found -1"),
    (lambda: proxbench.LogisticRegression(mu=0).fit(ROWS, CLASSES), "lambda"),
    (lambda: proxbench.LogisticRegression().fit(ROWS, CLASSES[1:]), "found 29 classes, expected 30"),
    (lambda: proxbench.LogisticRegression().fit(ROWS * np.nan, CLASSES), "NaN"),
    (lambda: proxbench.LogisticRegression(hierarchy={"B": None}).fit(ROWS, CLASSES), "found label"),
    (lambda: proxbench.LogisticRegression(hierarchy=5).fit(ROWS, CLASSES), "hierarchy: found a int"),
    (lambda: proxbench.LogisticRegression().fit(ROWS, CLASSES).predict(ROWS[:, 1:]), "5 features"),
    (lambda: proxbench.LogisticRegression().fit(ROWS, CLASSES).score(ROWS, CLASSES[1:]), "found 29 classes"),
])
def test_bad_input_is_an_error(call, found):
    with pytest.raises(proxbench.Error, match=found):
        call()


@pytest.mark.parametrize("name", ["predict", "predict_marginals", "state_features_", "transition_features_"])
def test_an_estimator_that_is_not_fitted_says_so(name):
    with pytest.raises(NotFittedError):
        found = getattr(proxbench.CRF(), name)
        found(X)
