"""Measures the memory of training on many candidates with many features, on a generated file.

Writes groups of 50 candidates to a temporary folder. A candidate has a base score, 5 of 1,000 common features, and 20
rare ones. Each rare feature occurs twice, far apart (with the default numbers). Trains for a few iterations. Prints the
bytes of the design matrix beside the bound of 16 per nonzero and 40 per feature. Also prints the peak memory of the
process (peak_rss_bytes), which includes the names of all features and the solver's memory.

Exit status: 0 the design matrix keeps to the bound; 1 it does not, or a run failed; 2 bad usage.
"""
import random

from ..errors import Error, UsageError
from .common import add_program, read_json, run, scratch

GROUP, COMMON, COMMON_EACH, RARE_EACH = 50, 1000, 5, 20


def add_flags(parser):
    add_program(parser)
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=10_000_000, help="number of rare features")
    parser.add_argument("--solver", default="prox-newton")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", help="where to make the temporary folder")


def write(path, candidates, rare):
    draw = random.Random(1)
    common = [f"c{i}" for i in range(COMMON)]
    with open(path, "w", encoding="ascii") as file:
        for c in range(candidates):
            best = c % GROUP == c // GROUP % GROUP
            on = [f"base:{draw.gauss(0.5 if best else 0.0, 1.0):.6f}"]
            on += draw.sample(common, COMMON_EACH)
            on += [f"r{(RARE_EACH * c + i) % rare}" for i in range(RARE_EACH)]
            file.write(f"{int(best)}\t" + "\t".join(on) + ("\n\n" if c % GROUP == GROUP - 1 else "\n"))


def bound_of(nonzeros, features):
    return 16 * nonzeros + 40 * features


def main(options):
    if min(options.candidates, options.features) < GROUP or options.candidates % GROUP:
        raise UsageError(f"expected --features >= {GROUP}, and --candidates a multiple of {GROUP}")
    with scratch("candidates", parent=options.folder) as folder:
        data, result = folder / "candidates.txt", folder / "result.json"
        write(data, options.candidates, options.features)
        run(options.program, "train", "--format", "rerank", "--train", data, "--solver", options.solver, "--lambda", 1,
            "--max-iterations", options.iterations, "--threads", options.threads, "--quiet", "--json", result, accept=(0, 1))
        r = read_json(result)
    bound = bound_of(r["nonzeros"], r["features"])
    print(f"candidates      {r['positions']:>15,}\nfeatures        {r['features']:>15,}\nnonzeros        {r['nonzeros']:>15,}")
    print(f"design matrix   {r['matrix_bytes']:>15,} bytes, {r['matrix_bytes'] / r['nonzeros']:.1f} a nonzero")
    print(f"16, 40          {bound:>15,} bytes: 16 a nonzero and 40 a feature")
    print(f"peak RSS        {r['peak_rss_bytes']:>15,} bytes, {r['solver']}, {r['iterations']} iterations")
    print(f"training        {r['seconds']:>15.1f} s")
    if r["matrix_bytes"] > bound:
        raise Error("the design matrix takes more than that")
