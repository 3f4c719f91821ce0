# %% [markdown]
# # Figure 1 from a stored sweep
#
# `proxbench run configs/figure1.ini --out results/figure1` measures it (`scripts/quickstart` its start, in
# `results/quickstart`). Loading and drawing need neither the data nor the compiled module.

# %%
import matplotlib.pyplot as plt

import proxbench

sweep = proxbench.load("results/figure1")
print(sweep.runs[["label", "lambda", "status", "objective", "nnz", "seconds"]])

# %% [markdown]
# The distance to the optimum against seconds, and against passes over the data.

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for ax, x in zip(axes, ("seconds", "passes")):
    proxbench.plots.curves(sweep, "objective", x=x, ax=ax)
figure.savefig("figure1.svg")

# %% [markdown]
# The same numbers as a table: the first sample within each target.

# %%
print(sweep.times([1e-2, 1e-4])[["label", "target", "text"]])
