"""Errors that a user reads: the path, what was found, what was expected."""
import difflib


class Error(ValueError):
    """A message for the user. `status` is the exit status of a command: 1 failed, 2 bad usage or config. `damaged` is
    the stored run or reference that it is about."""

    status = 1

    def __init__(self, text, damaged=""):
        super().__init__(text)
        self.damaged = damaged


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
