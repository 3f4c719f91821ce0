"""Arrays that users give: checked, and in the types that the compiled module takes."""
import numpy as np

from .errors import UsageError


def reals(given, name):
    """An array of float64."""
    return _array(given, name, "fiub", np.float64, "numbers")


def integers(given, name):
    """An array of int64. A float is no integer."""
    return _array(given, name, "iu", np.int64, "integers")


def _array(given, name, kinds, dtype, expected):
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.empty(1, dtype=object)
    if array.size and array.dtype.kind not in kinds or array.ndim == 0:
        found = f"an array of {array.dtype}" if isinstance(given, (np.ndarray, list, tuple)) else f"a {type(given).__name__}"
        raise UsageError(f"{name}: found {found}, expected {expected}")
    return np.ascontiguousarray(array, dtype=dtype)


def sized(array, size, name):
    """The array, of one dimension and this size."""
    if array.shape != (size,):
        shape = ", ".join(map(str, array.shape))
        raise UsageError(f"{name}: found an array of shape ({shape}), expected {size} numbers")
    return array


def in_place(array, size, name):
    """The array itself, which must have the right type."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or not array.flags.c_contiguous:
        raise UsageError(f"{name}: found another object, expected a contiguous array of float64")
    return sized(array, size, name)


def coordinates(given, dimension, name="coordinates"):
    """Ascending integers below `dimension`."""
    out = integers(given, name)
    sized(out, out.size, name)
    wrong = (out < 0) | (out >= dimension)
    wrong[1:] |= out[1:] <= out[:-1]
    if wrong.any():
        raise UsageError(f"{name}: found coordinate {out[np.argmax(wrong)]}, expected ascending ones below {dimension}")
    return out


def weights(w, dimension, name="w"):
    """(coordinates, values) of the nonzeros of a dense vector or of (coordinates, values)."""
    if isinstance(w, tuple):
        if len(w) != 2:
            raise UsageError(f"{name}: found a tuple of {len(w)}, expected a pair (coordinates, values)")
        index, values = coordinates(w[0], dimension, name), reals(w[1], name)
        sized(values, index.size, name)
    else:
        index, values = np.arange(dimension), sized(reals(w, name), dimension, name)
    finite = np.isfinite(values)
    if not finite.all():
        at = int(np.argmin(finite))
        found = "NaN" if np.isnan(values[at]) else "an infinite number"
        raise UsageError(f"{name}[{at}]: found {found}, expected finite numbers")
    nonzero = values != 0
    return (index, values) if nonzero.all() else (index[nonzero], values[nonzero])
