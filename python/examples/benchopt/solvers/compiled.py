import numpy as np
import proxbench
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Solvers of proxbench in C++. benchopt restarts them for each point of the curve."""

    name = "proxbench"
    sampling_strategy = "iteration"
    parameters = {"solver": ["prox-newton", "owl-qn"]}  # any name of proxbench.solvers()

    def set_objective(self, X, y, lmbd):
        self.data, self.lmbd = proxbench.classes(X, y), lmbd
        self.shape = (X.shape[1], len(self.data.labels_))

    def run(self, iterations):
        self.W = np.zeros(self.shape)
        if iterations > 0:
            self.W = proxbench.train(self.data, lambda_=self.lmbd, solver=self.solver, tol=1e-12, threads=1,
                                     max_iterations=iterations).coefficients.reshape(self.shape)

    def get_result(self):
        return {"W": self.W}
