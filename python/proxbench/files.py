"""Files that appear whole or not at all."""
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path

from .errors import ProxbenchError, in_file


def reason(error):
    return error.strerror or str(error)


def read_bytes(file, expected="a stored result"):
    try:
        return Path(file).read_bytes()
    except OSError:
        raise in_file(file, 0, "no readable file", expected) from None


def read_json(file, expected):
    try:
        value = json.loads(read_bytes(file, expected))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise in_file(file, 0, "no complete JSON object", expected)
    return value


def file_name_part(text):
    """The text with every byte that may be special in a file name replaced by "_"."""
    return re.sub(rb"[^A-Za-z0-9_.+-]", b"_", str(text).encode()).decode()


def make_folder(folder):
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProxbenchError(f"{folder}: cannot be made: {reason(error)}") from None


def require_writable(file):
    """Ends before the work if a file or folder could not be written after it."""
    place = Path(file).absolute()
    if place.is_file():
        place = place.parent
    while not place.exists():
        place = place.parent
    if place.is_file() or not os.access(place, os.W_OK):
        raise ProxbenchError(f"{file}: cannot be written: expected a folder {place} that may be written")


@contextmanager
def whole_file(file):
    """Gives a temporary name beside the file, which it gets at the end. Devices are written as they are."""
    file = Path(file).resolve() if Path(file).is_symlink() else Path(file)
    if file.is_dir():
        raise ProxbenchError(f"{file}: found a folder, expected a file to write")
    if file.exists() and not file.is_file():
        yield file
        return
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(file)
    except OSError as error:
        raise ProxbenchError(f"{file}: cannot be written: {reason(error)}") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(file, text):
    with whole_file(file) as name:
        name.write_bytes(text.encode())


def entries_of(folder):
    """The entries of a folder, sorted, without hidden ones. Nothing if there is no such folder."""
    try:
        return sorted(entry for entry in Path(folder).iterdir() if not entry.name.startswith("."))
    except OSError:
        return []
