"""The compiled module, or an error that says how to get it; and the errors of the functions that use it."""
import functools
import inspect
from typing import Any, Callable, TypeVar

from .errors import Error, UsageError

Function = TypeVar("Function", bound=Callable)

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


_OURS = ("proxbench", "numpy", "scipy", "pandas", "sklearn")


def checked(function: Function) -> Function:
    """Errors of Python about types and shapes become UsageError, so that users see one kind of exception. Exceptions of
    the user's own code, such as a callback, stay as they are."""

    @functools.wraps(function)
    def call(*arguments, **named):
        try:
            return function(*arguments, **named)
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError, RuntimeError) as error:
            if isinstance(error, Error) or _of_user(error):
                raise
            text = str(error)
            reason = "" if "incompatible function arguments" in text else f" ({type(error).__name__}: {text})"
            raise UsageError(f"{function.__name__}: found an argument of a wrong type or shape{reason}, expected "
                             f"{function.__name__}{_arguments(function)}, see its help") from error

    out: Any = call
    return out


def _arguments(function):
    """The signature without types."""
    signature = inspect.signature(function)
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def _of_user(error):
    at = error.__traceback__
    while at is not None:
        module = at.tb_frame.f_globals.get("__name__", "")
        if module.split(".")[0] not in _OURS or ".test_" in module:
            return True
        at = at.tb_next
    return False
