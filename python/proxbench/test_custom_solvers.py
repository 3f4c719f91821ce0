"""Tests of solvers that are written in Python."""
import os
import subprocess
import sys

import numpy as np
import pytest

import proxbench

pytest.importorskip("proxbench._core", reason="the compiled module was not built")


@proxbench.solver("test-ista", "proximal gradient descent with backtracking")
def ista(problem, monitor, shrink=proxbench.option(0.9, "factor of the curvature", min=0.1, max=1.0)):
    w, curvature = problem.start, 1.0
    loss, gradient = problem.loss_and_gradient(w)
    while True:
        slope = gradient + problem.mu * w
        kkt = np.where(w != 0, slope + problem.lambda_ * np.sign(w), proxbench.soft_threshold(slope, problem.lambda_))
        if np.abs(kkt).max() <= problem.kkt_target:
            return w
        while True:
            new = proxbench.soft_threshold(w - slope / curvature, problem.lambda_ / curvature)
            change = new - w
            bound = loss + gradient @ change + (curvature - problem.mu) / 2 * (change @ change)
            if problem.loss(new) <= bound + 1e-14 * loss or monitor.out_of_time():
                break
            curvature *= 2
        w, curvature = new, max(curvature * shrink, problem.mu)
        loss, gradient = problem.loss_and_gradient(w)
        if not monitor.step(w, loss):
            return w


@pytest.fixture(name="data")
def _data():
    random = np.random.RandomState(1)
    X = [[{"a%d" % random.randint(8): 1.0, "b": random.uniform()} for _ in range(4)] for _ in range(15)]
    return proxbench.sequences(X, [["pq"[random.randint(2)] for _ in one] for one in X])


def run(data, solve, **arguments):
    """Trains with a function (problem, monitor)."""
    proxbench.solver("test-one")(solve)
    return proxbench.train(data, solver="test-one", **{"lambda_": 0.3, **arguments})


def test_a_solver_in_python_finds_the_optimum(data):
    expected = proxbench.train(data, lambda_=0.3, mu=0.1, tol=1e-10)
    found = proxbench.train(data, lambda_=0.3, mu=0.1, solver=ista, tol=1e-7)
    assert found.status == "converged" and found.solver == "test-ista"
    assert found.objective == pytest.approx(expected.objective, rel=1e-10)
    assert found.lower_bound <= found.objective and found.iterations > 1 and found.passes >= found.iterations
    assert found.trace["iteration"].is_monotonic_increasing
    assert (proxbench.train(data, lambda_=0.3, mu=0.1, solver="test-ista", tol=1e-7).coefficients
            == found.coefficients).all()


def test_a_solver_in_python_passes_checks_of_the_conformance_suite():
    lines = []
    for part in ("stops", "reaches the optimum"):
        assert proxbench.check_solver(ista, only=part, show=lines.append), lines
    assert len(lines) > 4


def test_the_conformance_suite_finds_a_wrong_solver():
    @proxbench.solver("test-lazy")
    def lazy(problem, monitor):
        monitor.step(problem.start, None)
        return problem.start

    lines = []
    assert not proxbench.check_solver(lazy, only="reaches the optimum", show=lines.append)
    assert any(line.startswith("FAILED") for line in lines)


def test_options_reach_the_solver(data):
    seen = []

    @proxbench.solver("test-options")
    def options(problem, monitor, a=proxbench.option(1), b=0.5, c=True, d=proxbench.option("x", choices=["x", "y"])):
        seen.append((a, b, c, d))
        return problem.start

    proxbench.train(data, lambda_=1.0, solver="test-options", a=7, b=0.25, c=False, d="y")
    proxbench.train(data, lambda_=1.0, solver=options)
    assert seen == [(7, 0.25, False, "y"), (1, 0.5, True, "x")]
    with pytest.raises(proxbench.Error, match="z"):
        proxbench.train(data, lambda_=1.0, solver="test-options", d="z")
    with pytest.raises(proxbench.Error, match="option: found"):
        proxbench.train(data, lambda_=1.0, solver="test-options", e=1)
    assert set(proxbench.solvers()["test-options"]["options"]) == {"a", "b", "c", "d"}


def test_facts_of_the_problem_reach_the_solver(data):
    def solve(problem, monitor):
        assert problem.dimension == data.matrix().shape[1] * 2 + 4 and problem.instances == 15
        assert (problem.lambda_, problem.mu, problem.outputs, problem.seed) == (0.3, 0.2, 2, 5)
        assert problem.kkt_target == 0.5 * problem.kkt_at_zero > 0
        assert problem.start.shape == (problem.dimension,) and not problem.start.any()
        passes = problem.passes
        problem.loss(problem.start + 1)
        assert problem.passes > passes
        found = problem.certificate(problem.start)
        assert found["lower_bound"] <= found["objective"]
        return np.array([0, 1]), np.array([0.0, 0.5])

    result = run(data, solve, mu=0.2, seed=5, tol=0.5)
    index, values = result.w
    assert list(index) == [1] and list(values) == [0.5]


def test_weights_of_a_start_arrive(data):
    start = proxbench.train(data, lambda_=0.3, max_iterations=2)
    found = run(data, lambda problem, monitor: problem.start, start=start.w)
    assert (found.coefficients == start.coefficients).all()
    assert found.objective == start.objective


def fail(_, __):
    raise KeyError("mine")


def wrong_loss(problem, monitor):
    w = problem.start
    for _ in range(5):
        w = w + 0.1
        if not monitor.step(w, 1.0):
            break
    return w


def go_on(problem, monitor):
    while True:
        monitor.step(problem.start, None)


@pytest.mark.parametrize("solve, found", [
    (lambda problem, monitor: None, "returned None, expected its weights"),
    (fail, "raised KeyError: 'mine'"),
    (wrong_loss, "loss"),
    (go_on, "a call after it had returned False"),
    (lambda problem, monitor: np.zeros(3), r"the solver's result: found an array of shape \(3\)"),
    (lambda problem, monitor: "abc", "the solver's result: found"),
    (lambda problem, monitor: np.full(problem.dimension, np.nan), "NaN"),
    (lambda problem, monitor: monitor.step(np.zeros(3), 1.0), r"found an array of shape \(3\)"),
    (lambda problem, monitor: monitor.step(problem.start, "much"), "found loss of the type str, expected a number"),
    (lambda problem, monitor: monitor.step(problem.start, 1.0, -1), "found the working set"),
    (lambda problem, monitor: monitor.step(), "step"),
    (lambda problem, monitor: problem.loss(np.zeros(3)), r"w: found an array of shape \(3\)"),
    (lambda problem, monitor: problem.nothing, "'Problem' object has no attribute 'nothing'"),
    (lambda problem, monitor: sys.exit(3), "raised SystemExit"),
])
def test_a_wrong_solver_is_an_error(data, solve, found):
    with pytest.raises(proxbench.Error, match=found) as raised:
        run(data, solve, max_iterations=20)
    assert "incompatible function arguments" not in str(raised.value)
    assert proxbench.train(data, lambda_=0.3).status == "converged"


def test_a_wrong_solver_fails_the_points_of_a_path(data):
    proxbench.solver("test-one")(fail)
    with pytest.raises(proxbench.Error, match="raised KeyError"):
        proxbench.path(data, lambda_=[1.0, 0.5], solver="test-one")


def test_a_wrong_optimum_is_not_called_converged(data):
    found = run(data, lambda problem, monitor: problem.start)
    assert found.status == "stalled" and found.relative_gap > 0


def test_problem_and_monitor_end_with_their_run(data):
    kept = []

    def solve(problem, monitor):
        kept.extend([problem, monitor, problem.start])
        return problem.start

    run(data, solve)
    problem, monitor, w = kept
    for call in (lambda: problem.loss(w), lambda: problem.loss_and_gradient(w), lambda: problem.certificate(w),
                 lambda: problem.dimension, lambda: problem.hessian_product(w, w),
                 lambda: problem.add_instance_gradients([0], w, w), lambda: monitor.step(w, 1.0),
                 lambda: monitor.out_of_time(), lambda: monitor.seconds):
        with pytest.raises(proxbench.Error, match="after its run"):
            call()


def test_limits_stop_a_solver(data):
    def steps(problem, monitor):
        w, random = problem.start, np.random.RandomState(problem.seed)
        while monitor.step(w, None):
            w[0] = random.uniform()
        return w

    result = run(data, steps, max_iterations=7, tol=0)
    assert result.iterations == 7 and result.status == "max-iterations"
    assert run(data, steps, time_limit=0.05, tol=0).status == "time-limit"


def test_control_c_ends_a_solver_in_python():
    done = subprocess.run([sys.executable, "-c", """
import os, random, signal, threading, proxbench
data = proxbench.sequences([[{'a': 1}], [{'b': 1}]], [['p'], ['q']])

@proxbench.solver('steps')
def steps(problem, monitor):
    w = problem.start
    while monitor.step(w, None):
        w[0] = random.random()
    return w

@proxbench.solver('spins')
def spins(problem, monitor):
    while True:
        pass

for solver in (steps, spins):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        proxbench.train(data, lambda_=0.1, tol=0, solver=solver)
    except KeyboardInterrupt:
        print('interrupted')
print(proxbench.train(data, lambda_=0.1).status)
"""], capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ, PYTHONFAULTHANDLER="1"))
    assert done.stdout.split() == ["interrupted", "interrupted", "converged"], done.stderr


@pytest.mark.parametrize("register, found", [
    (lambda: proxbench.solver(5)(fail), "solver, name: found 5, expected a str"),
    (lambda: proxbench.solver("prox-newton")(fail), "prox-newton"),
    (lambda: proxbench.solver("test-loss", loss="huber")(fail), "huber"),
    (lambda: proxbench.solver("test-few")(lambda problem: None), "found a function of 1 arguments"),
    (lambda: proxbench.solver("test-no")(lambda problem, monitor, a: None), "'a' without a default"),
    (lambda: proxbench.option([1]), "expected a bool, int, float or str"),
    (lambda: proxbench.option(1.0, min="a"), "min"),
    (lambda: proxbench.option("a", choices="ab"), "choices"),
    (lambda: proxbench.check_solver("nothing"), "nothing"),
])
def test_a_wrong_registration_is_an_error(register, found):
    with pytest.raises(proxbench.Error, match=found):
        register()
