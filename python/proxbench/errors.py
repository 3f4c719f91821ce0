"""Errors that a user reads: the path, what was found, what was expected."""
import difflib
import functools
import inspect
from typing import Any, Callable, TypeVar

Function = TypeVar("Function", bound=Callable)


class Error(ValueError):
    """A message for the user. `status` is the exit status of a command: 1 failed, 2 bad usage or config. `damaged` is
    the stored run or reference that it is about."""

    status, damaged = 1, ""


ProxbenchError = Error


class UsageError(Error):
    status = 2


def in_file(file, line, found, expected):
    return Error(f"{file}{f':{line}' if line else ''}: found {found}, expected {expected}")


def require_known(what, name, known, expected="one of"):
    if name in known:
        return
    close = difflib.get_close_matches(name, list(known), 1)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    raise UsageError(f"{what}: found '{name}'{hint}, expected {expected} {', '.join(known)}")


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
