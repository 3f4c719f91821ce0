"""Measures the time and memory of one run on several processes.

  speed   runs the same 100 iterations of prox-newton on OCR (degree 2) and on CoNLL-2000, alternately with 2 processes
          of 1 thread and with 1 process of 2 threads. Prints the seconds on the clock and their ratio.
          $PROXBENCH_DATA holds the data.
  memory  writes a chain data set of N tokens, trains on it with 1 and with 2 processes, and prints the peak memory of
          each. Repeats both under a limit that is too small for one process.

Exit status: 0 measured, 1 a run failed or 2 processes need as much memory as 1, 2 bad usage.
"""
import random
import resource
import statistics
import subprocess

from ..errors import Error
from .common import DATA, MPI_ENVIRONMENT, ROOT, add_program, read_json, scratch


def add_flags(parser):
    parser.add_argument("what", choices=["speed", "memory"])
    add_program(parser, ROOT / "build/mpi/proxbench")
    parser.add_argument("--mpirun", default="mpirun -n {}", metavar="COMMAND",
                        help="starts processes; {} stands for their number")
    parser.add_argument("--tokens", type=int, default=10_000_000, metavar="N")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--folder", metavar="DIR", help="where to make the temporary folder")


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def train(self, processes, threads, data, memory=None):
        """Returns the summary, or None if the program ran out of memory."""
        out = self.folder / "out.json"
        out.unlink(missing_ok=True)
        launch = self.options.mpirun.replace("{}", str(processes)).split() if processes > 1 else []
        command = [*launch, self.options.program, "train", *data, "--threads", str(threads), "--quiet", "--json", out]
        limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
        done = subprocess.run(command, env=MPI_ENVIRONMENT, preexec_fn=limit, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if not out.exists():
            if memory and "memory" in done.stderr:
                return None
            raise Error(f"status {done.returncode}: {done.stderr}")
        return read_json(out)

    def speed(self):
        problems = {
            "OCR, degree 2, lambda = 100.37": ["--format", "ocr", "--train", DATA / "ocr/letter.data.gz", "--data-option",
                                            "features=degree2", "--lambda", "100.37"],
            "CoNLL-2000, lambda = 1.37": ["--format", "conll", "--train", DATA / "conll2000/train.txt.gz", "--lambda", "1.37"],
        }
        for name, data in problems.items():
            seconds, results = {1: [], 2: []}, []
            for _ in range(self.options.repetitions):
                for processes in (1, 2):
                    summary = self.train(processes, 3 - processes, data + ["--max-iterations", "100", "--tol", "0"])
                    seconds[processes].append(summary["seconds"])
                    results.append(summary["objective"])
            # Iterates that are far from the optimum magnify roundings, which depend on the number of processes.
            if max(results) - min(results) > 1e-3 * max(results):
                raise Error(f"the runs on {name} differ: {results}")
            one, two = (statistics.median(seconds[p]) for p in (1, 2))
            print(f"{name}: 1 process of 2 threads {one:.2f} s, 2 processes of 1 thread {two:.2f} s, ratio {two / one:.2f}")

    def memory(self):
        path = self.folder / "tokens.txt"
        write(path, self.options.tokens)
        data = ["--format", "crfsuite", "--train", path, "--solver", "prox-newton", "--lambda", "50", "--max-iterations", "10",
                "--tol", "0"]
        one, two = (self.train(processes, 1, data) for processes in (1, 2))
        if abs(one["objective"] - two["objective"]) > 1e-12 * one["objective"]:
            raise Error("1 and 2 processes found another F")
        peak = {1: one["peak_rss_bytes"], 2: two["peak_rss_bytes"]}
        print(f"{one['positions']:,} tokens, {one['nonzeros']:,} nonzeros, {path.stat().st_size:,} bytes of text")
        print(f"peak memory of the largest process: {peak[1]:,} bytes of 1, {peak[2]:,} of 2, ratio {peak[2] / peak[1]:.2f}")
        limit = (peak[1] + peak[2]) // 2 + (300 << 20)  # of address space; MPI and threads take 300 MB of it
        alone, both = (self.train(processes, 1, data, limit) for processes in (1, 2))
        print(f"under a limit of {limit:,} bytes: 1 process {'trains' if alone else 'runs out of memory'}, "
              f"2 processes {'train' if both else 'run out of memory'}")
        return 0 if both and not alone else 1


def write(path, tokens):
    """Writes sentences of 20 tokens with 8 features each: words, their neighbours, shapes."""
    draw = random.Random(3)
    words = range(20000)
    weights = [1 / (1 + i) for i in words]
    with open(path, "w", encoding="ascii") as file:
        for _ in range(tokens // 20):
            sentence = draw.choices(words, weights, k=20)
            for before, word, after in zip([-1, *sentence], sentence, [*sentence[1:], -1]):
                file.write(f"y{(word * 7 + before) % 5}\tw={word}\tb={before}\ta={after}\tbb={before % 50}-{word % 50}"
                           f"\ts={word % 97}\tt={word % 13}\tu={after % 31}\tbias\n")
            file.write("\n")


def main(options):
    with scratch("processes", parent=options.folder) as folder:
        return getattr(Bench(options, folder), options.what)()
