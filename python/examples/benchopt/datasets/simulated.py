import numpy as np
from benchopt import BaseDataset
from scipy.sparse import csr_matrix


class Dataset(BaseDataset):
    """SIMULATED sparse counts of words, with labels from a sparse model."""

    name = "simulated"
    parameters = {"rows, features, classes": [(300, 500, 5)], "seed": [1]}
    requirements = ["numpy", "scipy"]

    def get_data(self):
        draw = np.random.default_rng(self.seed)
        X = csr_matrix(draw.poisson(0.05, (self.rows, self.features)).astype(float))
        W = draw.normal(size=(self.features, self.classes)) * (draw.random((self.features, self.classes)) < 0.1)
        y = (X @ W + draw.gumbel(size=(self.rows, self.classes))).argmax(axis=1)
        return {"X": X, "y": y}
