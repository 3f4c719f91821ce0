"""Tests of data, training, certificates and models in Python. Reference values come from enumeration, from finite
differences, from other implementations, or from the program."""
import gc
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import proxbench
from proxbench import custom_solvers

pytest.importorskip("proxbench._core", reason="the compiled module was not built")
sparse = pytest.importorskip("scipy.sparse")

LABELS = ["B", "I", "O"]
TRAINING = 0.3, 0.2
#: What each solver can minimise, where it is not the default.
MU_ONLY = {"lambda": 0.0, "mu": 0.5}
SETTINGS = {
    "lbfgs": MU_ONLY, "liblbfgs": MU_ONLY, "newton-cg": MU_ONLY, "sdca": MU_ONLY, "oeg": MU_ONLY, "sag-nus": MU_ONLY,
    "gdmm": {**MU_ONLY, "loss": "hinge"}, "bcfw": {**MU_ONLY, "loss": "hinge"}, "ssg": {**MU_ONLY, "loss": "hinge"},
    "ssnal": {**MU_ONLY, "loss": "hinge"},
}


def dicts(sequences=12, seed=1):
    """X and y as for sklearn-crfsuite."""
    random = np.random.RandomState(seed)
    words = ["the", "dog", "sat", "mat", "a:b", "back\\slash"]
    X, y = [], []
    for _ in range(sequences):
        length = random.randint(2, 6)
        X.append([{"word": words[random.randint(len(words))], "bias": 1.0, "upper": bool(random.randint(2)),
                   "size": round(random.uniform(-2, 2), 3), "tags": ["t%d" % k for k in range(random.randint(3))]}
                  for _ in range(length)])
        y.append([LABELS[random.randint(3)] for _ in range(length)])
    return X, y


def crfsuite_text(X, y):
    """The same as a file of CRFsuite."""

    def escaped(name):
        return name.replace("\\", "\\\\").replace(":", "\\:")

    lines = []
    for items, labels in zip(X, y):
        for item, label in zip(items, labels):
            fields = [label]
            for key, value in item.items():
                if isinstance(value, str):
                    fields.append(escaped(f"{key}:{value}"))
                elif isinstance(value, list):
                    fields += [escaped(f"{key}:{one}") for one in value]
                else:
                    fields.append(f"{escaped(key)}:{float(value)!r}")
            lines.append("\t".join(fields))
        lines.append("")
    return "\n".join(lines) + "\n"


def matrix(rows=30, columns=6, seed=2):
    random = np.random.RandomState(seed)
    X = random.normal(size=(rows, columns)) * (random.uniform(size=(rows, columns)) < 0.6)
    return X, [LABELS[k] for k in random.randint(3, size=rows)]


@pytest.fixture(name="chains")
def _chains():
    return proxbench.sequences(*dicts())


def enumerated(data, w):
    """Loss and marginals of a chain, by a sum over all label sequences."""
    X, gold, K = data.matrix().toarray(), data.gold(), len(data.labels_)
    unary = w[:X.shape[1] * K].reshape(-1, K)
    pairs = w[X.shape[1] * K:].reshape(K, K)
    loss, marginals, at = 0.0, np.zeros((len(X), K)), 0
    for length in data.lengths():
        rows = slice(at, at + length)
        scores = X[rows] @ unary
        all_ys = list(itertools.product(range(K), repeat=int(length)))

        def score(y):
            return sum(scores[t, k] for t, k in enumerate(y)) + sum(pairs[a, b] for a, b in zip(y, y[1:]))

        weights = np.exp([score(y) for y in all_ys])
        loss += np.log(weights.sum()) - score(gold[rows])
        for y, p in zip(all_ys, weights / weights.sum()):
            marginals[np.arange(at, at + length), y] += p
        at += length
    return loss, marginals


def test_loss_and_marginals_of_chains_are_those_of_enumeration(chains):
    problem = proxbench.problem(chains, mu=1.0)
    w = np.random.RandomState(3).normal(size=problem.dimension)
    loss, _ = enumerated(chains, w)
    assert problem.loss(w) == pytest.approx(loss, rel=1e-12)
    result = proxbench.train(chains, lambda_=TRAINING[0], mu=TRAINING[1])
    loss, marginals = enumerated(chains, result.coefficients)
    assert result.loss == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(result.model.marginals(chains), marginals, atol=1e-10)


@pytest.mark.parametrize("make", ["chains", "classes", "hierarchy", "groups"])
def test_gradient_and_hessian_are_finite_differences(make):
    X, y = matrix()
    data = {
        "chains": lambda: proxbench.sequences(X, y, lengths=[10, 20]),
        "classes": lambda: proxbench.classes(X, y),
        "hierarchy": lambda: proxbench.classes(X, y, hierarchy={"in": None, "B": "in", "I": "in", "O": None}),
        "groups": lambda: proxbench.groups(X, np.arange(30) % 7, lengths=[10, 20]),
    }[make]()
    problem = proxbench.problem(data, lambda_=1.0)
    random = np.random.RandomState(4)
    w, v = random.normal(size=(2, problem.dimension)) * 0.3
    loss, gradient = problem.loss_and_gradient(w)
    assert loss == problem.loss(w)
    step = 1e-6
    along = (problem.loss(w + step * v) - problem.loss(w - step * v)) / (2 * step)
    assert gradient @ v == pytest.approx(along, rel=1e-6)
    change = (problem.loss_and_gradient(w + step * v)[1] - problem.loss_and_gradient(w - step * v)[1]) / (2 * step)
    np.testing.assert_allclose(problem.hessian_product(w, v), change, rtol=1e-5, atol=1e-6)
    some = np.arange(0, problem.dimension, 3)
    np.testing.assert_allclose(problem.loss_and_gradient(w, some)[1], gradient[some], rtol=1e-12, atol=1e-12)
    inside = np.zeros_like(v)
    inside[some] = v[some]
    np.testing.assert_allclose(problem.hessian_product(w, v[some], some), problem.hessian_product(w, inside)[some],
                               rtol=1e-9, atol=1e-9)


def test_instance_gradients_add_up(chains):
    problem = proxbench.problem(chains, mu=1.0)
    w = np.random.RandomState(5).normal(size=problem.dimension)
    loss, gradient = problem.loss_and_gradient(w)
    out = np.zeros_like(w)
    total = problem.add_instance_gradients(np.arange(problem.instances), w, out, 2.0)
    assert total == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(out, 2 * gradient, rtol=1e-9, atol=1e-12)


def test_no_objective_is_below_the_lower_bound(chains):
    lambda_, mu = TRAINING
    problem = proxbench.problem(chains, lambda_=lambda_, mu=mu)
    best = proxbench.train(chains, lambda_=lambda_, mu=mu, tol=1e-12)
    random = np.random.RandomState(6)
    for scale in (0.0, 0.1, 1.0):
        w = best.coefficients + scale * random.normal(size=problem.dimension)
        found = proxbench.certify(chains, w, lambda_=lambda_, mu=mu)
        assert found["objective"] == pytest.approx(problem.loss(w) + problem.penalty(w), rel=1e-12)
        assert found["lower_bound"] <= best.objective <= found["objective"] * (1 + 1e-12)
        assert found["gap"] == pytest.approx(found["objective"] - found["lower_bound"])
    better = proxbench.certify(chains, w, lambda_=lambda_, mu=mu, tighten=2.0)
    assert found["lower_bound"] <= better["lower_bound"] <= best.objective * (1 + 1e-12)


def test_gap_stops_the_training(chains):
    result = proxbench.train(chains, lambda_=1.0, gap=0.01)
    assert result.status in ("gap-reached", "converged") and result.relative_gap <= 0.01
    assert result.lower_bound <= result.objective
    assert result.gap == pytest.approx(result.objective - result.lower_bound)
    assert result.trace["objective"].iloc[-1] == pytest.approx(result.objective)


def test_names_survive(chains):
    result = proxbench.train(chains, lambda_=0.5)
    features, weights = result.model.weights
    unary = result.coefficients[:len(chains.features_) * 3].reshape(-1, 3)
    for row, name in enumerate(features):
        expected = unary[chains.features_.index(name)]
        found = {label: weights[row, k] for k, label in enumerate(result.model.labels_)}
        assert found == {label: expected[k] for k, label in enumerate(chains.labels_)}
    for (name, label), weight in result.model.state_features_.items():
        assert unary[chains.features_.index(name), chains.labels_.index(label)] == weight
    pairs = result.coefficients[unary.size:].reshape(3, 3)
    for (a, b), weight in result.model.transition_features_.items():
        assert pairs[chains.labels_.index(a), chains.labels_.index(b)] == weight


def test_models_and_results_can_be_pickled_and_saved(chains, tmp_path):
    X, _ = dicts()
    result = proxbench.train(chains, lambda_=0.5)
    for name in ("m.tsv", "m.pbm"):
        result.model.save(tmp_path / name)
        assert proxbench.Model.load(tmp_path / name).predict(X) == result.model.predict(X)
    copy = pickle.loads(pickle.dumps(result))
    assert copy.model.predict(X) == result.model.predict(X) and copy.summary == result.summary
    assert (copy.coefficients == result.coefficients).all() and copy.trace.equals(result.trace)
    assert pickle.loads(pickle.dumps(copy)).objective == result.objective
    with pytest.raises(proxbench.Error, match="pickle"):
        pickle.dumps(chains)


def test_nbest_are_the_best_by_enumeration(chains):
    result = proxbench.train(chains, mu=1.0)
    w, K = result.coefficients, 3
    X = chains.matrix().toarray()
    unary, pairs = w[:X.shape[1] * K].reshape(-1, K), w[X.shape[1] * K:].reshape(K, K)
    length = int(chains.lengths()[0])
    scores = X[:length] @ unary
    every = sorted((sum(scores[t, k] for t, k in enumerate(y)) + sum(pairs[a, b] for a, b in zip(y, y[1:]))
                    for y in itertools.product(range(K), repeat=length)), reverse=True)
    found = result.model.nbest(chains, 5)[0]
    np.testing.assert_allclose([score for score, _ in found], every[:5], rtol=1e-9)
    assert found[0][1] == result.model.predict(chains)[0]


def program():
    found = os.environ.get("PROXBENCH_PROGRAM") or os.path.join(
        os.path.dirname(os.path.abspath(proxbench.__file__)), "..", "..", "proxbench")
    if not os.path.isfile(found):
        pytest.skip("the program was not found: set PROXBENCH_PROGRAM")
    return found


@pytest.mark.parametrize("solver", [name for name in proxbench.solvers() if name not in custom_solvers.registered])
def test_the_program_gives_the_same_bits(solver, tmp_path):
    file, model = tmp_path / "train.txt", tmp_path / "program.tsv"
    file.write_text(crfsuite_text(*dicts()))
    settings = SETTINGS.get(solver, {"lambda": TRAINING[0], "mu": TRAINING[1]})
    command = [program(), "train", "--format", "crfsuite", "--train", str(file), "--solver", solver, "--threads", "1",
               "--max-iterations", "30", "--quiet", "--json", "-", "--model", str(model)]
    for name, value in settings.items():
        command += [f"--{name}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert model.exists(), done.stderr
    expected = json.loads(done.stdout)
    arguments = {{"lambda": "lambda_"}.get(name, name): value for name, value in settings.items()}
    found = proxbench.train(proxbench.read("crfsuite", file), solver=solver, threads=1, max_iterations=30, **arguments)
    for name in ("objective", "status", "iterations", "passes", "kkt", "dual", "nnz"):
        assert found.summary[name] == expected[name], name
    found.model.save(tmp_path / "module.tsv")
    assert (tmp_path / "module.tsv").read_bytes() == model.read_bytes()


def test_dicts_give_the_bits_of_the_file(tmp_path):
    X, y = dicts()
    (tmp_path / "a.txt").write_text(crfsuite_text(X, y))
    read, made = proxbench.read("crfsuite", tmp_path / "a.txt"), proxbench.sequences(X, y)
    assert made.features_ == read.features_ and made.labels_ == read.labels_
    assert (made.matrix() != read.matrix()).nnz == 0
    one, two = (proxbench.train(data, lambda_=0.4, mu=0.1) for data in (read, made))
    assert (one.coefficients == two.coefficients).all() and one.objective == two.objective


def test_any_number_of_threads_gives_the_same_bits():
    data = proxbench.read("synthetic-ocr", [], words=60, test_words=5)
    one, two = (proxbench.train(data, lambda_=1.0, threads=n, max_iterations=5) for n in (1, 2))
    assert (one.coefficients == two.coefficients).all()


def test_a_path_ends_where_a_training_does(chains):
    found = proxbench.path(chains, lambda_="path(max, 0.1*max, 4)", tol=1e-10)
    assert len(found.points) == len(found.ws) == 4 and found.points["nnz"].iloc[0] == 0
    last = proxbench.train(chains, lambda_=float(found.points["lambda"].iloc[-1]), tol=1e-10)
    assert found.points["objective"].iloc[-1] == pytest.approx(last.objective, rel=1e-9)


def test_selection_trains_the_chosen_penalty(chains):
    found = proxbench.select(chains, lambda_=[2.0, 0.5], folds=3, measure="loss")
    assert found.lambda_ in (2.0, 0.5) and len(found.points) == 2
    again = proxbench.train(chains, lambda_=found.lambda_)
    assert found.objective == pytest.approx(again.objective, rel=1e-6)


def test_arrays_of_other_types_give_the_same_bits():
    X, y = matrix()
    X = X.astype(np.float32)
    csr = sparse.csr_matrix(X.astype(np.float64))
    rows, lengths = np.diff(csr.indptr), [10, 20]
    shuffled = csr.copy()
    for i, size in enumerate(rows):
        at = slice(csr.indptr[i], csr.indptr[i + 1])
        order = np.random.RandomState(i).permutation(size)
        shuffled.indices[at], shuffled.data[at] = csr.indices[at][order], csr.data[at][order]
    halves = np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2
    doubled = sparse.csr_matrix(halves, shape=csr.shape)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    spread = np.zeros((60, 12))
    spread[::2, ::2] = X
    shapes = {"float32": X, "float32 CSR": sparse.csr_matrix(X), "int64": wide, "unsorted": shuffled,
              "duplicate": doubled, "Fortran": np.asfortranarray(X), "strided": spread[::2, ::2], "CSC": sparse.csc_matrix(csr),
              "COO": csr.tocoo(), "lists": X.tolist()}
    expected = proxbench.train(proxbench.sequences(csr, y, lengths), lambda_=0.3, mu=0.1)
    for name, given in shapes.items():
        data = proxbench.sequences(given, y, lengths)
        assert (data.matrix() != csr).nnz == 0, name
        assert (proxbench.train(data, lambda_=0.3, mu=0.1).coefficients == expected.coefficients).all(), name


def test_weights_may_have_any_layout(chains):
    problem = proxbench.problem(chains, mu=1.0)
    w = np.random.RandomState(7).normal(size=problem.dimension).astype(np.float32)
    expected = problem.loss(w.astype(np.float64))
    spread = np.zeros((problem.dimension, 2), dtype=np.float32)
    spread[:, 0] = w
    index = np.arange(problem.dimension, dtype=np.int32)
    for given in (w, list(map(float, w)), spread[:, 0], (index, w), (list(map(int, index)), w)):
        assert problem.loss(given) == expected


def test_results_outlive_their_data():
    data = proxbench.sequences(*dicts())
    result = proxbench.train(data, lambda_=0.5)
    problem = proxbench.problem(data, lambda_=0.5)
    index, values = result.w
    X, gold, trace = data.matrix(), data.gold(), result.trace
    del data
    gc.collect()
    expected = problem.loss((index, values))
    model = result.model
    del result, problem
    gc.collect()
    assert X.shape[0] == len(gold) == len([k for one in model.predict(dicts()[0]) for k in one]) and len(trace) > 0
    assert proxbench.problem(proxbench.sequences(*dicts()), lambda_=0.5).loss((index, values)) == expected


def test_a_label_unseen_in_training_counts_as_a_miss():
    X, y = dicts()
    data = proxbench.sequences(X, y, test=(X[:1], [["new"] * len(y[0])]))
    assert (data.gold(test=True) == -1).all()
    assert proxbench.train(data, lambda_=0.5).test_accuracy == 0.0


def test_two_threads_train_at_once(chains):
    X, y = matrix(200, 20)
    tasks = [(chains, {"lambda_": 0.1}), (proxbench.classes(X, y), {"lambda_": 0.1}), (chains, {"mu": 0.1})] * 2
    expected = [proxbench.train(data, tol=1e-10, **penalty).coefficients for data, penalty in tasks]
    found = [None] * len(tasks)

    def work(i):
        data, penalty = tasks[i]
        found[i] = proxbench.train(data, tol=1e-10, threads=2, **penalty).coefficients

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((a == b).all() for a, b in zip(expected, found))


def test_a_callback_sees_samples_and_may_stop(chains):
    seen = []
    result = proxbench.train(chains, lambda_=0.01, tol=1e-14,
                             callback=lambda sample: seen.append(sample) or len(seen) < 3)
    assert len(seen) == 3 and result.status == "interrupted"
    assert {"seconds", "objective", "nnz"} <= set(seen[0])


@pytest.mark.parametrize("run", [proxbench.train, proxbench.path])
def test_an_exception_of_a_callback_arrives_as_it_is(chains, run):
    class Own(Exception):
        pass

    def fail(_):
        raise Own("mine")

    def wrong(_):
        return len(5)

    with pytest.raises(Own, match="mine"):
        run(chains, lambda_=[0.5, 0.1] if run is proxbench.path else 0.5, callback=fail)
    with pytest.raises(TypeError, match="len"):
        run(chains, lambda_=[0.5, 0.1] if run is proxbench.path else 0.5, callback=wrong)
    assert proxbench.train(chains, lambda_=0.5).status == "converged"


LONG = "data = proxbench.read('synthetic-ocr', [], words=60, test_words=5)\n"


def run_python(code, **more):
    """Runs code in a process of its own, which must end by itself."""
    return subprocess.run([sys.executable, "-c", "import proxbench\n" + code], capture_output=True, text=True,
                          timeout=120, check=False, env=dict(os.environ, PYTHONFAULTHANDLER="1"), **more)


def test_control_c_ends_a_training_and_not_the_process(tmp_path):
    done = run_python(LONG + """
import os, signal, threading, time
def long():
    proxbench.train(data, lambda_=0.01, mu=1e-6, tol=1e-15, solver='prox-gd')
def path():
    proxbench.path(data, lambda_='path(max, 1e-4*max, 500)', tol=1e-12)
def select():
    proxbench.select(data, lambda_='path(max, 1e-4*max, 500)', folds=5, tol=1e-12)
for work in (long, path, select):
    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        work()
        print('ended without')
    except KeyboardInterrupt:
        print('interrupted')
print(proxbench.train(data, lambda_=5.0).status)
""", cwd=tmp_path)  # an interrupted selection leaves there what it has
    assert done.stdout.split() == ["interrupted"] * 3 + ["converged"], done.stderr


def test_python_may_end_while_a_daemon_thread_trains():
    done = run_python(LONG + """
import threading
started = threading.Event()
def work():
    proxbench.train(data, lambda_=1e-4, mu=1e-7, tol=1e-15, solver='prox-gd', callback=lambda sample: started.set())
threading.Thread(target=work, daemon=True).start()
started.wait()
print('ends')
""")
    assert (done.stdout, done.returncode) == ("ends\n", 0), done.stderr


def test_time_limit_ends_a_training():
    data = proxbench.read("synthetic-ocr", [], words=60, test_words=5)
    result = proxbench.train(data, lambda_=0.01, tol=1e-15, solver="prox-gd", time_limit=0.3)
    assert result.status == "time-limit" and np.isfinite(result.objective)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_train_after_its_parent_did():
    done = run_python(LONG + """
import multiprocessing
def objective(lambda_):
    return proxbench.train(data, lambda_=lambda_, threads=2, max_iterations=5).objective
here = [objective(lambda_) for lambda_ in (2.0, 1.0)]
with multiprocessing.get_context('fork').Pool(2) as pool:
    there = pool.map(objective, (2.0, 1.0))
print(here == there, here == [objective(lambda_) for lambda_ in (2.0, 1.0)])
""")
    assert done.stdout.split() == ["True", "True"], done.stderr


X3, Y3 = [[{"a": 1}], [{"b": 1}]], [["p"], ["q"]]
M3, C3 = np.eye(2), ["p", "q"]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("call, found", [
    (lambda: proxbench.sequences(X3, Y3[:1]), "found 1 lists of labels, expected 2"),
    (lambda: proxbench.sequences(X3, [["p"], ["q", "p"]]), r"y\[1\]: found 2 labels, expected 1"),
    (lambda: proxbench.sequences([[{"a": 1}], []], [["p"], []]), r"X\[1\]: found an empty sequence"),
    (lambda: proxbench.sequences([], []), "found nothing"),
    (lambda: proxbench.sequences([[{"a": NAN}]], [["p"]]), r"X\[0\]\[0\]: found the value nan of 'a'"),
    (lambda: proxbench.sequences([[{"a": INF}]], [["p"]]), "inf"),
    (lambda: proxbench.sequences([[{"a": None}]], [["p"]]), "NoneType for 'a'"),
    (lambda: proxbench.sequences([[{1: 2}]], [["p"]]), "name of the type int"),
    (lambda: proxbench.sequences([[5]], [["p"]]), "item of the type int"),
    (lambda: proxbench.sequences([{"a": 1}], [["p"]]), "found a dict, expected a list of items"),
    (lambda: proxbench.sequences(["ab"], [["p", "q"]]), "found a str, expected a list of items"),
    (lambda: proxbench.sequences([5], [["p"]]), "found a int, expected a list of items"),
    (lambda: proxbench.sequences(None, None), "found a NoneType"),
    (lambda: proxbench.sequences(X3, None), "found a NoneType"),
    (lambda: proxbench.sequences(X3, [[None], ["q"]]), "found None"),
    (lambda: proxbench.sequences(X3, [[{}], ["q"]]), "unhashable"),
    (lambda: proxbench.sequences(X3, [["1"], [1]]), "two labels that are written '1'"),
    (lambda: proxbench.sequences(X3, Y3, test=(X3,)), "found 1 parts"),
    (lambda: proxbench.sequences(M3, C3, lengths=[1, 2]), "found a sum of 3, expected 2"),
    (lambda: proxbench.sequences(M3, C3, lengths=[0, 2]), "lengths"),
    (lambda: proxbench.sequences(M3, C3, lengths=[1.5, 0.5]), "lengths"),
    (lambda: proxbench.sequences(M3, C3, lengths=["a", "b"]), "lengths"),
    (lambda: proxbench.classes([[1.0], [NAN]], C3), "row 1, column 0: found nan"),
    (lambda: proxbench.classes(sparse.csr_matrix([[1.0], [NAN]]), C3), "found nan"),
    (lambda: proxbench.classes([[1j], [1]], C3), "complex"),
    (lambda: proxbench.classes(sparse.csr_matrix([[1j], [1]]), C3), "complex"),
    (lambda: proxbench.classes([["a"], ["b"]], C3), "no numbers"),
    (lambda: proxbench.classes([[1, 2], [3]], C3), "different lengths"),
    (lambda: proxbench.classes(np.zeros((2, 2, 2)), C3), "3 dimensions"),
    (lambda: proxbench.classes(M3, ["p"]), "found 1 labels, expected 2"),
    (lambda: proxbench.classes(M3, C3, test=(np.eye(3), ["p"] * 3)), "found 3 columns, expected 2"),
    (lambda: proxbench.classes(M3, C3, feature_names=["a"]), "found 1, expected one for each of 2"),
    (lambda: proxbench.classes(M3, C3, feature_names=["a", "a"]), "'a' twice"),
    (lambda: proxbench.classes(M3, C3, hierarchy={"p": None}), "found label 'q'"),
    (lambda: proxbench.classes(M3, C3, hierarchy={"p": None, "q": "r"}), "found the parent 'r'"),
    (lambda: proxbench.classes(M3, C3, hierarchy={"p": "q", "q": None}), "found 'q', an inner node"),
    (lambda: proxbench.classes(M3, C3, hierarchy=["p"]), "found a list"),
    (lambda: proxbench.groups(M3, [1, NAN], [2]), "found nan"),
    (lambda: proxbench.groups(M3, [1], [2]), "found shape"),
    (lambda: proxbench.label_sets(M3, [["p"], "q"]), "found a str"),
    (lambda: proxbench.read("nothing", "a"), "nothing"),
    (lambda: proxbench.read("crfsuite", "/missing/file"), "/missing/file"),
    (lambda: proxbench.read("crfsuite", 5), "found a int"),
    (lambda: proxbench.read("libsvm", "a", unknown=1), "unknown"),
    (lambda: proxbench.Model.load("/missing/file"), "/missing/file"),
])
def test_wrong_data_are_an_error(call, found):
    with pytest.raises(proxbench.Error, match=found):
        call()


@pytest.mark.parametrize("arguments, found", [
    ({}, "lambda"),
    ({"lambda_": -1}, "-1"),
    ({"lambda_": NAN}, "nan"),
    ({"lambda_": "x"}, "x"),
    ({"lambda_": [1, 2]}, "found a list or path"),
    ({"lambda_": 1, "solver": "prox-newto"}, "did you mean 'prox-newton'"),
    ({"lambda_": 1, "solver": 5}, "5"),
    ({"lambda_": 1, "solver": "lbfgs"}, "lambda = 0"),
    ({"lambda_": 1, "memmory": 3}, "memmory"),
    ({"lambda_": 1, "memory": "many"}, "many"),
    ({"lambda_": 1, "settings": {"reptitions": 3}}, "reptitions"),
    ({"lambda_": 1, "settings": [1]}, "found a list"),
    ({"lambda_": 1, "loss": "huber"}, "huber"),
    ({"lambda_": 1, "threads": -1}, "-1"),
    ({"lambda_": 1, "callback": 5}, "found a int, expected a function"),
    ({"lambda_": 1, "start": np.zeros(3)}, r"shape \(3\), expected"),
    ({"lambda_": 1, "start": "abc"}, "start: found"),
    ({"lambda_": 1, "start": ([0], [NAN])}, "NaN"),
    ({"lambda_": 1, "start": ([1, 0], [1.0, 1.0])}, "expected ascending"),
    ({"lambda_": 1, "start": ([0.5], [1.0])}, "expected integers"),
    ({"lambda_": 1, "start": ([10**9], [1.0])}, "1000000000"),
    ({"lambda_": 1, "start": (1, 2, 3)}, "found a tuple of 3"),
])
def test_wrong_arguments_are_an_error(chains, arguments, found):
    with pytest.raises(proxbench.Error, match=found):
        proxbench.train(chains, **arguments)


@pytest.mark.parametrize("call, found", [
    (lambda data, p: proxbench.train([1, 2]), "found a list, expected proxbench.Data"),
    (lambda data, p: proxbench.certify(data, np.zeros(3), lambda_=1), "shape"),
    (lambda data, p: proxbench.certify(data, np.zeros(p.dimension), lambda_=1, tighten="x"), "tighten"),
    (lambda data, p: proxbench.select(data, lambda_=[1, 2], folds="many"), "folds: found 'many'"),
    (lambda data, p: proxbench.select(data, lambda_=[1, 2], folds=1), "1"),
    (lambda data, p: proxbench.select(data, lambda_=[1, 2], folds=2, measure="beauty"), "beauty"),
    (lambda data, p: proxbench.select(data, lambda_=[1, 2], folds=2, rule="worst"), "worst"),
    (lambda data, p: proxbench.select(data, lambda_=[1, 2]), "test"),
    (lambda data, p: proxbench.path(data, lambda_="path(1, 2)"), "path"),
    (lambda data, p: p.loss(np.zeros(3)), r"w: found an array of shape \(3\)"),
    (lambda data, p: p.loss(np.zeros((3, 3))), r"shape \(3, 3\)"),
    (lambda data, p: p.loss(None), "w: found"),
    (lambda data, p: p.loss(np.full(p.dimension, NAN)), "NaN"),
    (lambda data, p: p.loss(np.zeros(p.dimension, dtype=complex)), "complex"),
    (lambda data, p: p.loss_and_gradient(p.start, [1, 0]), "ascending"),
    (lambda data, p: p.loss_and_gradient(p.start, [0.5]), "expected integers"),
    (lambda data, p: p.loss_and_gradient(p.start, [[0, 1]]), "shape"),
    (lambda data, p: p.hessian_product(p.start, np.zeros(3)), "v: found"),
    (lambda data, p: p.hessian_product(p.start), "v"),
    (lambda data, p: p.add_instance_gradients([99], p.start, p.start), "found 99"),
    (lambda data, p: p.add_instance_gradients([0], p.start, list(p.start)), "out: found"),
    (lambda data, p: p.add_instance_gradients([0], p.start, p.start.astype(np.float32)), "out: found"),
])
def test_wrong_uses_are_an_error(chains, call, found):
    with pytest.raises(proxbench.Error, match=found):
        call(chains, proxbench.problem(chains, mu=1.0))


def test_wrong_predictions_are_an_error(chains):
    model = proxbench.train(chains, lambda_=0.5).model
    for data in ([], None, [[]], [5], np.eye(3)):
        with pytest.raises(proxbench.Error):
            model.predict(data)
    with pytest.raises(proxbench.Error, match="found no test set"):
        model.predict(chains, test=True)
    with pytest.raises(proxbench.Error, match="outputs"):
        model.predict(proxbench.classes(M3, C3))
    with pytest.raises(proxbench.Error, match="n"):
        model.nbest(chains, 0)


def test_a_signal_handler_of_the_user_is_kept():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
