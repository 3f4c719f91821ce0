import numpy as np
import proxbench
from benchopt import BaseSolver


class Solver(BaseSolver):
    """ISTA in Python on the oracle of proxbench. benchopt's callback sees each iterate."""

    name = "ista"
    sampling_strategy = "callback"

    def set_objective(self, X, y, lmbd):
        self.problem = proxbench.problem(proxbench.classes(X, y), lambda_=lmbd, threads=1)
        self.shape = (X.shape[1], self.problem.outputs)

    def run(self, callback):
        problem, curvature = self.problem, 1.0
        self.w = np.zeros(problem.dimension)
        loss, gradient = problem.loss_and_gradient(self.w)
        while callback():
            while True:
                new = proxbench.soft_threshold(self.w - gradient / curvature, problem.lambda_ / curvature)
                step = new - self.w
                new_loss = problem.loss(new)
                if new_loss <= loss + gradient @ step + curvature / 2 * (step @ step) + 1e-14 * loss:
                    break
                curvature *= 2
            self.w, curvature = new, 0.9 * curvature
            loss, gradient = problem.loss_and_gradient(self.w)

    def get_result(self):
        return {"W": self.w.reshape(self.shape)}
