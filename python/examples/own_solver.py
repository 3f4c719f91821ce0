# %% [markdown]
# # Solvers of one's own, on the same clock
#
# A solver in Python sees the data through an oracle: the loss, its gradient, products with its Hessian, and gradients of
# single instances. The C++ kernels evaluate it, its evaluations are counted, and its result gets the same certificate as
# that of any other solver. Three solvers follow: ISTA in 20 lines, a wrapper for SciPy's L-BFGS-B, and a stochastic one.
# The environment variable PROXBENCH_QUICK makes the data small.

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import proxbench

quick = "PROXBENCH_QUICK" in os.environ
data = proxbench.read("synthetic-ocr", (), features="pixels", words=80 if quick else 1500, test_words=20)
print(data)

# %% [markdown]
# ## ISTA
# w <- soft_threshold(w - slope / curvature, lambda / curvature), where the curvature is doubled until it is large enough
# for the bound of Beck and Teboulle (2009). The same function in a file of its own is `ista_plugin.py`, for sweeps.


# %%
@proxbench.solver("ista", "proximal gradient descent with backtracking", paper="Beck and Teboulle 2009")
def ista(problem, monitor, shrink=proxbench.option(0.9, "factor of the curvature after each iteration", min=0.1, max=1.0)):
    w, curvature = problem.start, 1.0
    loss, gradient = problem.loss_and_gradient(w)
    while True:
        slope = gradient + problem.mu * w
        kkt = np.where(w != 0, slope + problem.lambda_ * np.sign(w), proxbench.soft_threshold(slope, problem.lambda_))
        if np.abs(kkt).max() <= problem.kkt_target:
            return w
        while True:
            new = proxbench.soft_threshold(w - slope / curvature, problem.lambda_ / curvature)
            step = new - w
            bound = loss + gradient @ step + (curvature - problem.mu) / 2 * (step @ step)
            if problem.loss(new) <= bound + 1e-14 * loss or monitor.out_of_time():
                break
            curvature *= 2
        w, curvature = new, max(curvature * shrink, problem.mu)
        loss, gradient = problem.loss_and_gradient(w)
        if not monitor.step(w, loss):
            return w


# %% [markdown]
# ## SciPy's L-BFGS-B, for the l2 penalty alone
# `smooth=True` says that the solver needs lambda = 0, `l2=True` that it needs mu > 0.


# %%
class Stopped(Exception):
    pass


@proxbench.solver("scipy-lbfgs", "L-BFGS-B of SciPy", l2=True, smooth=True)
def scipy_lbfgs(problem, monitor, memory=proxbench.option(10, "pairs kept", min=1, max=1000)):
    last = problem.start

    def value(w):
        loss, gradient = problem.loss_and_gradient(w)
        return loss + problem.mu / 2 * (w @ w), gradient + problem.mu * w

    def after(w):
        nonlocal last
        last = w.copy()
        if not monitor.step(last, problem.loss(last)):  # evaluated just before at this w, so it costs nothing
            raise Stopped

    try:
        minimize(value, last, jac=True, method="L-BFGS-B", callback=after,
                 options={"maxcor": memory, "gtol": problem.kkt_target, "ftol": 0, "maxiter": 10**9, "maxfun": 10**9})
    except Stopped:
        pass
    return last


# %% [markdown]
# ## A stochastic method
# `add_instance_gradients(instances, w, out, scale)` adds scale * gradient to `out`, which may be w itself. F is a SUM over
# instances, so a batch gets its share of the penalties. `exact=False`: the solver does not reach every tolerance.


# %%
@proxbench.solver("batch-sgd", "stochastic proximal gradient descent on small batches", exact=False)
def batch_sgd(problem, monitor, eta=proxbench.option(0.5, "first length of a step", min=0.0),
              batch=proxbench.option(10, "instances in a batch", min=1)):
    w, order, count = problem.start, np.random.default_rng(problem.seed), problem.instances
    if np.abs(proxbench.soft_threshold(problem.loss_and_gradient(w)[1], problem.lambda_)).max() == 0 and not w.any():
        return w  # w = 0 is optimal
    for passes in range(10**9):
        drawn = order.permutation(count)
        for first in range(0, count, batch):
            chosen = drawn[first:first + batch]
            rate = eta / (1 + passes + first / count)
            share = rate * len(chosen) / count
            problem.add_instance_gradients(chosen, w, w, -rate)
            w = proxbench.soft_threshold(w / (1 + share * problem.mu), share * problem.lambda_)
        if not monitor.step(w):  # its loss is not known; the monitor evaluates it while the clock stands
            return w


# %% [markdown]
# ## Do they keep to what solvers promise?
# `check_solver(name)` runs the conformance suite of `proxbench check-solver`: limits, optimality, the same bits again,
# degenerate data. Here it runs the checks of limits.

# %%
for name in ("ista", "scipy-lbfgs", "batch-sgd"):
    assert proxbench.check_solver(name, only="stops at max_iterations"), name

# %% [markdown]
# ## Beside the solvers in C++
# Each pair solves one problem. `trace` is a data frame with a row for each sample.

# %%
pairs = [("ista", "prox-newton", {"lambda_": 1.0}), ("scipy-lbfgs", "lbfgs", {"mu": 1.0}),
         ("batch-sgd", "sgd", {"lambda_": 1.0})]
figure, axes = plt.subplots(1, len(pairs), figsize=(12, 3.5), layout="constrained")
for ax, (ours, theirs, penalty) in zip(axes, pairs):
    best = proxbench.train(data, gap=1e-6, threads=1, **penalty)
    for name in (ours, theirs):
        result = proxbench.train(data, solver=name, gap=1e-4, time_limit=0.5 if quick else 30, threads=1, **penalty)
        difference = (result.trace["objective"] - best.lower_bound) / best.objective
        ax.loglog(result.trace["seconds"], difference, drawstyle="steps-post", label=name)
        print(f"{name:12} {result.status:12} F = {result.objective:.6f}, {result.iterations} iterations, "
              f"{result.passes:.0f} passes, {result.seconds:.2f} s")
    ax.set(xlabel="seconds", ylabel="(F - lower bound) / F", title=", ".join(f"{k}={v:g}" for k, v in penalty.items()))
    ax.legend()
plt.show()
