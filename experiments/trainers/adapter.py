"""What the adapters share: the three commands, programs, and models as text. The protocol is in README.md."""

import json
import math
import os
import re
import shutil
import subprocess
import sys

INSTALL = "scripts/install-deps --trainers installs it"


class Missing(Exception):
    """The program is not there, or another one has its name; the text says what to do."""


def main(describe, train, model):
    """Does what the harness asks for. describe(program) returns a dict, train(job) the words of a command, and
    model(job, out) writes to an Out."""
    verb, argument = (sys.argv[1:] + ["", ""])[:2]
    if verb == "describe":
        try:
            answer = describe(argument)
        except Missing as missing:
            answer = {"missing": str(missing)}
        print(json.dumps(answer))
    elif verb == "train":
        words = [str(word) for word in train(read_job(argument))]
        sys.stdout.flush()
        os.execv(words[0], words)
    elif verb == "model":
        out = Out()
        model(read_job(argument), out)
        sys.stdout.write(out.text())
    else:
        sys.exit("usage: ADAPTER describe [PROGRAM] | train JOB.json | model JOB.json")


def read_job(file):
    with open(file, encoding="utf-8") as text:
        return json.load(text)


def read_text(file):
    """Bytes that are no UTF-8 stay as they are: Out writes them back."""
    with open(file, encoding="utf-8", errors="surrogateescape") as text:
        return text.read()


# ---- programs

def find_program(given, name, install):
    """The absolute path of the program that was given, or else of the one on PATH."""
    found = shutil.which(given or name)
    if found is None:
        raise Missing(f"no program {given or name}; {install}, or give program = FILE")
    return os.path.abspath(found)


def output_of(*words, wait=20):
    """What a program prints, to either stream, whatever its exit status."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=wait, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout.decode("utf-8", "replace")


def version_of(program, pattern, what, *words):
    """The first group of the pattern in what the program prints; anything else is another program."""
    text = output_of(program, *words)
    found = re.search(pattern, text)
    if found is None:
        first = text.strip().splitlines()[:1]
        raise Missing(f"{program} is not {what}: it says '{first[0] if first else ''}'; give program = FILE")
    return found.group(1)


# ---- models

def escaped(name):
    return name.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


class Out:
    """A model as the harness reads it."""

    def __init__(self):
        self.lines = ["# proxbench model 1"]

    def fact(self, key, value):
        """iterations, objective with objective_error, or fit_seconds."""
        self.lines.append(f"# {key}={value}")

    def objective(self, printed, scale=1.0):
        """The last objective that the program printed, as text, and half of its last digit, both times `scale`."""
        mantissa, _, exponent = printed.lower().partition("e")
        decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
        self.fact("objective", repr(float(printed) * scale))
        self.fact("objective_error", repr(0.5 * 10.0 ** -decimals * scale))

    def unary(self, feature, output, weight):
        self._line("unary", feature, output, weight)

    def pair(self, before, label, weight):
        self._line("pair", before, label, weight)

    def _line(self, word, first, second, weight):
        if not math.isfinite(weight):
            sys.exit(f"the model has a weight {weight} of {first} {second}")
        if weight != 0.0:
            self.lines.append("\t".join([word, escaped(first), escaped(second), repr(float(weight))]))

    def text(self):
        return "\n".join(self.lines) + "\n"


def numbered_names(file):
    """The file of names that numbered formats have: {"feature": {number: name}, "label": {number: name}}."""
    names = {"feature": {}, "label": {}}
    for line in read_text(file).split("\n"):
        if line:
            kind, number, name = line.split("\t")
            names[kind][int(number)] = re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r"}.get(m[1], m[1]), name)
    return names


def last(pattern, file):
    """All groups of the last match in a file, None where there is none."""
    found = re.findall(pattern, read_text(file), re.MULTILINE)
    return found[-1] if found else None
