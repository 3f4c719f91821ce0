from benchopt import BaseDataset
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits


class Dataset(BaseDataset):
    """The 1,797 handwritten digits that scikit-learn ships: 64 pixels, from 0 to 1."""

    name = "digits"
    requirements = ["scikit-learn"]

    def get_data(self):
        X, y = load_digits(return_X_y=True)
        return {"X": csr_matrix(X / 16), "y": y}
