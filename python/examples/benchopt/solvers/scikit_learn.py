import warnings

import numpy as np
from benchopt import BaseSolver
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression


class Solver(BaseSolver):
    """SAGA of scikit-learn, whose C is 1/lambda. It is multinomial for three classes and more."""

    name = "scikit-learn"
    sampling_strategy = "iteration"
    requirements = ["scikit-learn"]

    def skip(self, X, y, lmbd):
        return (True, "needs three classes") if len(np.unique(y)) < 3 else (False, None)

    def set_objective(self, X, y, lmbd):
        self.X, self.y = X, y
        self.model = LogisticRegression(penalty="l1", solver="saga", C=1 / lmbd, fit_intercept=False, tol=1e-12)

    def run(self, iterations):
        self.W = np.zeros((self.X.shape[1], len(np.unique(self.y))))
        if iterations > 0:
            self.model.max_iter = iterations
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                self.W = self.model.fit(self.X, self.y).coef_.T

    def get_result(self):
        return {"W": self.W}
