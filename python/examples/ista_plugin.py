"""A solver of one's own for sweeps: `proxbench --plugin ista_plugin.py run CONFIG`, with [solver.ista] in CONFIG.

From Python: `import ista_plugin`, then `proxbench.train(data, lambda_=1, solver="ista")`. own_solver.py explains it.
"""
import numpy as np

import proxbench


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
