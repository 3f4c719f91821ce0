"""Solvers of proxbench and of others in benchopt's own runner, on one objective:

    PYTHONPATH=build/release/python benchopt run python/examples/benchopt -d digits

See "benchopt" in python/README.md.
"""
import numpy as np
from benchopt import BaseObjective
from scipy.special import logsumexp


class Objective(BaseObjective):
    """lambda ||W||_1 plus the SUM over rows of the negative log-likelihood. W has a row for each feature and a column for
    each class; there is no intercept."""

    name = "l1 multinomial logistic regression"
    min_benchopt_version = "1.5"
    requirements = ["numpy", "scipy"]
    parameters = {"reg": [0.1, 0.01]}  # lambda, as a share of the smallest one at which W = 0 is optimal

    def set_data(self, X, y):
        self.X, self.y = X, y
        _, self.label = np.unique(y, return_inverse=True)
        rows, classes = len(y), self.label.max() + 1
        residual = np.full((rows, classes), 1 / classes)  # of the loss at W = 0
        residual[np.arange(rows), self.label] -= 1
        self.shape = (X.shape[1], classes)
        self.lmbd = self.reg * np.abs(X.T @ residual).max()

    def get_objective(self):
        return {"X": self.X, "y": self.y, "lmbd": self.lmbd}

    def evaluate_result(self, W):
        scores = np.asarray(self.X @ W)
        loss = logsumexp(scores, axis=1).sum() - scores[np.arange(len(scores)), self.label].sum()
        return {"value": loss + self.lmbd * np.abs(W).sum(), "loss": loss, "nnz": np.count_nonzero(W)}

    def get_one_result(self):
        return {"W": np.zeros(self.shape)}
