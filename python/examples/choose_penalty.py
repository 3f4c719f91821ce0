# %% [markdown]
# # Choosing lambda and mu
#
# `select` trains on a part of the instances, measures on the rest, and trains the chosen penalty on all of them. Along the
# lambdas, each training starts from the model of the one before. PROXBENCH_QUICK makes the data small.

# %%
import os

import matplotlib.pyplot as plt

import proxbench

quick = "PROXBENCH_QUICK" in os.environ
data = proxbench.read("synthetic-ocr", (), features="pixels", words=40 if quick else 800, test_words=100)
count, threads = (3, 1) if quick else (6, 0)  # 0: all cores

# %% [markdown]
# Every lambda of the path with every mu, by cross-validation. `max` is the smallest lambda at which w = 0 is optimal.
# The rule "one-se" takes the sparsest model within one standard error of the best.

# %%
chosen = proxbench.select(data, lambda_=f"path(0.3*max, 0.01*max, {count})", mu=[0.0, 1.0], folds=3, rule="one-se", gap=1e-2,
                          threads=threads)
print(chosen.points)
print(f"chosen: lambda = {chosen.lambda_:.3g}, mu = {chosen.mu:g}: {chosen.nnz} nonzeros")
print("on the test set:", chosen.model.metrics(data, test=True))

# %%
figure, ax = plt.subplots(layout="constrained")
for mu, points in chosen.points.groupby("mu"):
    ax.errorbar(points["lambda"], points["mean"], points["standard_error"], marker="o", label=f"mu = {mu:g}")
ax.axvline(chosen.lambda_, linestyle=":", color="black")
ax.set(xscale="log", xlabel="lambda", ylabel="held-out accuracy")
ax.legend()
plt.show()

# %% [markdown]
# The whole path on all instances, with a certificate for each point.

# %%
path = proxbench.path(data, lambda_=f"path(max, 0.01*max, {2 * count})", mu=chosen.mu, gap=1e-2, threads=threads)
print(path.points[["lambda", "objective", "nnz", "test_accuracy"]])
