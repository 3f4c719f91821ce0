# %% [markdown]
# # What Python costs
#
# ISTA in NumPy beside `prox-gd`, the same method in C++, on the handwritten words (degree 2, `scripts/get-data`) or, where
# they are not found, on SYNTHETIC ones. CPU time on one thread, since other programs may run. From the same first estimate of
# the curvature, both make the same steps.

# %%
import os
import time

import ista_plugin  # registers the solver "ista"

import proxbench

quick = "PROXBENCH_QUICK" in os.environ
try:
    data = proxbench.read("ocr", "letter.data.gz", features="degree2")
except proxbench.Error:
    data = proxbench.read("synthetic-ocr", (), features="degree2", words=30 if quick else 6216, test_words=0)
print(data)
call = {"lambda_": 1.0 if quick else 100.0, "threads": 1, "max_iterations": 3 if quick else 100, "tol": 0}

# %% [markdown]
# A third solver is ISTA again, with a clock around each call of the module. At a known w, a call only checks and compares w:
# that is the module's own share.

# %%
spent = dict.fromkeys(("run", "step", "loss", "loss_and_gradient", "check"), 0.0)
calls = dict.fromkeys(spent, 0)


def timed(part, function, *arguments):
    start = time.thread_time()
    out = function(*arguments)
    spent[part] += time.thread_time() - start
    calls[part] += 1
    return out


class Timed:
    """A problem or monitor whose calls are timed. Each call of loss() is made twice."""

    def __init__(self, core):
        self.core = core

    def __getattr__(self, name):
        value = getattr(self.core, name)
        if name not in spent:
            return value

        def call(*arguments):
            out = timed(name, value, *arguments)
            if name == "loss":
                timed("check", value, *arguments)
            return out

        return call


@proxbench.solver("timed-ista")
def timed_ista(problem, monitor):
    return timed("run", ista_plugin.ista, Timed(problem), Timed(monitor), 0.9)


# %%
for repetition in range(1 if quick else 3):
    for solver, options in ("prox-gd", {"lipschitz": 1.0}), ("ista", {}), ("timed-ista", {}):
        before = time.process_time()
        result = proxbench.train(data, solver=solver, **call, **options)
        print(f"{solver:10} {time.process_time() - before:7.2f} s of CPU time, on the clock {result.cpu_seconds:.2f}, "
              f"{result.iterations} iterations, {result.passes:.0f} passes, F = {result.objective:.6g}")

# %%
run = spent["run"] - spent["check"] - spent["step"]  # a step takes samples, while the clock stands
numpy = run - spent["loss"] - spent["loss_and_gradient"]
checks = spent["check"] / calls["check"] * (calls["loss"] + calls["loss_and_gradient"] + calls["step"])
print(f"NumPy: {numpy / run:.1%}, the module's own checks: {checks / run:.1%} of the CPU time of ISTA")
