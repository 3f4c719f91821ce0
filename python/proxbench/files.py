"""Files that appear whole or not at all."""
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path

from .errors import Error


def read_text(file, expected="a stored result"):
    try:
        return Path(file).read_text("utf-8", "replace")
    except OSError:
        raise Error.at(file, "no readable file", expected) from None


def read_json(file, expected):
    try:
        value = json.loads(read_text(file, expected))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Error.at(file, "no complete JSON object", expected)
    return value


def file_name_part(text):
    """The text with every byte that may be special in a file name replaced by "_"."""
    return re.sub(rb"[^A-Za-z0-9_.+-]", b"_", str(text).encode()).decode()


def require_writable(file):
    """Ends before the work if a file or folder could not be written after it."""
    path = Path(file).absolute()
    place = next(one for one in (path, *path.parents) if one.exists() and not (one == path and one.is_file()))
    if place.is_file() or not os.access(place, os.W_OK):
        raise Error(f"{file}: cannot be written: expected a folder {place} that may be written")


@contextmanager
def whole_file(file):
    """Gives a temporary name beside the file, which it gets at the end. Makes its folder. Devices are written as they
    are."""
    target = Path(file).resolve()
    if target.is_dir():
        raise Error.at(file, "a folder", "a file to write")
    if target.exists() and not target.is_file():
        yield target
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        raise Error(f"{file}: cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(file, text):
    with whole_file(file) as name:
        name.write_bytes(text.encode())


def entries_of(folder):
    """The entries of a folder, sorted, without hidden ones. Nothing if there is no such folder."""
    return sorted(Path(folder).glob("[!.]*"))
