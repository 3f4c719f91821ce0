"""The compiled module, or an error that says how to get it."""
from .errors import UsageError

try:
    from . import _core as core
except ImportError as missing:
    _reason = str(missing)
    core = None  # type: ignore[assignment]


def require():
    """Returns proxbench._core. Raises UsageError if it was not built."""
    if core is None:
        raise UsageError(
            f"the compiled module of proxbench is missing ({_reason}): install python3-dev and pybind11-dev, build again "
            "with `cmake --build --preset release`, and set PYTHONPATH=build/release/python"
        )
    return core
