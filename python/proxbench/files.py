"""Files that appear whole or not at all."""
import json
import os
import re
from contextlib import contextmanager

from .errors import ProxbenchError, in_file


def reason(error):
    return error.strerror or str(error)


def read_bytes(file, expected="a stored result"):
    try:
        with open(file, "rb") as bytes_:
            return bytes_.read()
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
    plain = re.compile(rb"[^A-Za-z0-9_.+-]")
    return plain.sub(b"_", str(text).encode()).decode()


def make_folder(folder):
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ProxbenchError(f"{folder}: cannot be made: {reason(error)}") from None


def require_writable(file):
    """Ends before the work if a file or folder could not be written after it."""
    place = os.path.abspath(file)
    if os.path.isfile(place):
        place = os.path.dirname(place)
    while not os.path.exists(place):
        place = os.path.dirname(place)
    if os.path.isfile(place) or not os.access(place, os.W_OK):
        raise ProxbenchError(f"{file}: cannot be written: expected a folder {place} that may be written")


@contextmanager
def whole_file(file):
    """Gives a temporary name beside the file, which it gets at the end. Devices are written as they are."""
    file = os.path.realpath(file) if os.path.islink(file) else os.fspath(file)
    if os.path.exists(file) and not os.path.isfile(file):
        if os.path.isdir(file):
            raise ProxbenchError(f"{file}: found a folder, expected a file to write")
        yield file
        return
    folder, name = os.path.split(file)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, file)
    except OSError as error:
        raise ProxbenchError(f"{file}: cannot be written: {reason(error)}") from None
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def write_text(file, text):
    with whole_file(file) as name:
        with open(name, "w", encoding="utf-8", newline="") as out:
            out.write(text)


def entries_of(folder):
    """The entries of a folder, sorted, without hidden ones. Nothing if there is no such folder."""
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []
