"""Type hints: mypy is content with the modules, and the stub names what the compiled module has."""
import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import proxbench
from proxbench import compiled

PACKAGE = Path(proxbench.__file__).resolve().parent
MODULES = ["__init__", "compiled", "custom_solvers", "datasets", "errors", "estimators", "training", "worker"]

USE = """
import numpy as np
import proxbench
data = proxbench.sequences([[{"word": "a"}]], [["A"]])
result = proxbench.train(data, lambda_=0.1, gap=1e-4)
reveal_type(result.model)
reveal_type(proxbench.certify(data, result.w, lambda_=0.1)["gap"])
proxbench.train(data, lambda_=[0.1])
proxbench.train([])

@proxbench.solver("mine")
def mine(problem: proxbench.Problem, monitor, step: float = proxbench.option(0.1, "length", min=0)) -> np.ndarray:
    return problem.start
"""


def test_mypy_is_content(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(USE)
    # In a folder that has the sources and the stub alone, as an installation has them.
    (tmp_path / "proxbench").symlink_to(PACKAGE)
    files = [f"proxbench/{name}.py" for name in MODULES if (PACKAGE / f"{name}.py").exists()]
    ended = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--check-untyped-defs", "--no-error-summary",
                            "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"), *files, "use.py"],
                           cwd=tmp_path, text=True, capture_output=True)
    found = ended.stdout.splitlines()
    assert ended.stderr == "" and [line for line in found if not line.startswith("use.py")] == []
    assert [re.sub(r"^use.py:(\d+): (\w+): .*?((\"[^\"]*\")?)( of .*)?$", r"\1 \2", line) for line in found] == [
        "6 note", "7 note", "8 error", "9 error"], ended.stdout
    assert "proxbench.training.Model" in found[0] and "builtins.float" in found[1]
    assert '"lambda_" to "train"' in found[2] and '"train"' in found[3] and "Data" in found[3]


def arguments_of(function):
    """Names, as pybind11 has them: an argument without a name is called by its place."""
    unnamed = [one.arg if one.arg == "self" else f"arg{i - 1}" for i, one in enumerate(function.args.posonlyargs)]
    return unnamed + [one.arg for one in function.args.args]


@pytest.mark.skipif(compiled.core is None, reason="the module proxbench._core was not built")
def test_the_stub_has_what_the_module_has():
    def named(body):
        return {getattr(one, "name", None) or one.target.id: one for one in body
                if isinstance(one, (ast.ClassDef, ast.FunctionDef, ast.AnnAssign))}

    def compare(stub, runtime, where):
        present = {name for name in vars(runtime) if not name.startswith("_")}
        stubs = {name for name in stub if not name.startswith("_")}
        assert stubs == present, where
        for name in stubs:
            if not isinstance(stub[name], ast.FunctionDef) or isinstance(vars(runtime)[name], property):
                continue
            # pybind11 writes the signature as the first line: name(argument: type = default, ...) -> type
            signature = getattr(runtime, name).__doc__.splitlines()[0]
            found = re.findall(r"[(,] ?(\w+): ", signature)
            assert arguments_of(stub[name]) == found, signature

    stub = named(ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8")).body)
    compare(stub, compiled.core, "module")
    for name, one in stub.items():
        if isinstance(one, ast.ClassDef):
            compare(named(one.body), getattr(compiled.core, name), name)


def test_help_names_every_argument():
    import inspect

    for function in (proxbench.train, proxbench.path, proxbench.certify, proxbench.select, proxbench.read, proxbench.sequences):
        text = inspect.getdoc(function)
        others = {"data", "options", "oracle", "hierarchy"} if function is not proxbench.train else set()
        shared = "Other arguments are those of `train`" in text
        known = set(inspect.signature(proxbench.train).parameters) if shared or function in (
            proxbench.certify, proxbench.select) else set()
        for name in inspect.signature(function).parameters:
            assert name in others | known or name in text, f"{function.__name__}: {name}"
