"""Errors that a user reads: the path, what was found, what was expected."""
import difflib


class Error(ValueError):
    """A message for the user. `status` is the exit status of a command: 1 failed, 2 bad usage or config. `damaged` is
    the stored run or reference that it is about."""

    status = 1

    def __init__(self, text, damaged=""):
        super().__init__(text)
        self.damaged = damaged

    @classmethod
    def at(cls, place, found, expected):
        """`place`: FILE, FILE:LINE, a flag or a key."""
        return cls(f"{place}: found {found}, expected {expected}")


class UsageError(Error):
    status = 2


def require_known(what, name, known, expected="one of"):
    if name in known:
        return
    close = difflib.get_close_matches(name, list(known), 1)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    raise UsageError.at(what, f"'{name}'{hint}", f"{expected} {', '.join(known)}")
