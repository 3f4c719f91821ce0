#!/usr/bin/env python3
"""Makes a re-ranking task from CoNLL-2000 chunking: lists of the N best chunkings with features, for --format rerank.

It replaces the parse re-ranking data of Andrew and Gao (ICML 2007), which are not public; task and size differ. The
base model is a small chain CRF on words and POS. The lists of training sentences come from models that were not trained
on these sentences (jackknifing, as in Collins 2000). The lists of the other sets come from one model of all training
sentences. The last sentences of the training file are the development set.

Writes train.gz, dev.gz, test.gz and about.json to the folder of --out. A candidate is a line

    correct/gold/guessed TAB base:DIFFERENCE TAB feature[:count] ...

The first field counts chunks in common with gold, in gold, and in the candidate. DIFFERENCE is the base model's score
of the candidate minus that of the first in the list. The candidate's chunks have these features (a token outside of
chunks counts as a chunk of type O):

    n=A|B, n=A|B|C         two and three types in a row, with the ends
    h=type|head            the last word
    w=type|first, l=type|n the first word; the length
    p=type|POS...          the POS of its tokens
    b=type|before|after    the words around it;  q: the POS around it
    c=type|head|next       head and the next chunk's type;  d: POS and the next chunk's type

A feature with the same count in all candidates of a list changes no probability and is left out. A feature is kept if
it differs in at least --min-count lists of the training set.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fail(text):
    sys.exit(f"make-rerank: error: {text}")


def read_conll(path):
    """Sentences as lists of (word, POS, label)."""
    if not path.is_file():
        fail(f"no file {path}, expected CoNLL-2000 (https://www.clips.uantwerpen.be/conll2000/chunking/)")
    sentences, sentence = [], []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if len(fields) == 3:
                sentence.append(tuple(fields))
            elif fields:
                fail(f"{path}:{number}: found {len(fields)} columns, expected word, POS and label")
            elif sentence:
                sentences.append(sentence)
                sentence = []
    return sentences + [sentence] if sentence else sentences


def escaped(name):
    return name.replace("\\", "\\\\").replace(":", "\\:")


def write_crfsuite(sentences, path):
    """Writes the base model's data: the word, and the POS in a window of three tokens."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in sentences:
            pos = ["<s>"] + [p for _, p, _ in sentence] + ["</s>"]
            for t, (word, _, label) in enumerate(sentence):
                attributes = [f"w={word.lower()}", f"p={pos[t + 1]}", f"p-={pos[t]}|{pos[t + 1]}",
                              f"p+={pos[t + 1]}|{pos[t + 2]}"]
                file.write("\t".join([escaped(label)] + [escaped(a) for a in attributes]) + "\n")
            file.write("\n")


class Program:
    """Runs proxbench for the base model."""

    def __init__(self, arguments, folder):
        self.program, self.arguments, self.folder = arguments.program, arguments, pathlib.Path(folder)

    def run(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"{self.program} {' '.join(map(str, words))}: {done.stderr.strip()}")

    def lists(self, train, sets):
        """Trains on `train` and yields, for each of the sets, the lists of its sentences: [(score, labels)]."""
        write_crfsuite(train, self.folder / "train.txt")
        model, threads = self.folder / "model.tsv", ["--threads", self.arguments.threads]
        self.run("train", "--format", "crfsuite", "--train", self.folder / "train.txt", "--lambda",
                 self.arguments.base_lambda, "--tol", "1e-4", "--model", model, "--quiet", *threads)
        for sentences in sets:
            write_crfsuite(sentences, self.folder / "test.txt")
            self.run("predict", "--model", model, "--test", self.folder / "test.txt", "--nbest", self.arguments.nbest,
                     "--output", self.folder / "lists.txt", "--quiet", *threads)
            found, group = [], []
            with open(self.folder / "lists.txt", encoding="utf-8") as file:
                for line in file:
                    fields = line.rstrip("\n").split("\t")
                    if len(fields) > 1:
                        group.append((float(fields[1]), fields[2:]))
                    else:
                        found.append(group)
                        group = []
            if len(found) != len(sentences):
                fail(f"{len(found)} lists of {len(sentences)} sentences")
            yield found


def chunks_of(labels):
    """Chunks (type, begin, end) as conlleval finds them. Each token outside of chunks is a chunk of type O."""
    out = []
    for t, label in enumerate(labels):
        kind = label[2:] if label != "O" else "O"
        if label.startswith("I-") and out and out[-1][0] == kind and out[-1][2] == t:
            out[-1] = (kind, out[-1][1], t + 1)
        else:
            out.append((kind, t, t + 1))
    return out


def features_of(sentence, chunks):
    """The count of each feature."""
    words = ["<s>"] + [w.lower() for w, _, _ in sentence] + ["</s>"]
    pos = ["<s>"] + [p for _, p, _ in sentence] + ["</s>"]
    kinds = ["<s>"] + [kind for kind, _, _ in chunks] + ["</s>"]
    on = collections.Counter()
    for i in range(len(kinds) - 1):
        on[f"n={kinds[i]}|{kinds[i + 1]}"] += 1
        if i > 0:
            on[f"n={kinds[i - 1]}|{kinds[i]}|{kinds[i + 1]}"] += 1
    for i, (kind, begin, end) in enumerate(chunks):
        head, span, after = words[end], "-".join(pos[begin + 1:end + 1]), kinds[i + 2]
        for feature in (f"h={kind}|{head}", f"w={kind}|{words[begin + 1]}", f"l={kind}|{min(end - begin, 8)}",
                        f"p={kind}|{span}", f"b={kind}|{words[begin]}|{words[end + 1]}",
                        f"q={kind}|{pos[begin]}|{pos[end + 1]}", f"c={kind}|{head}|{after}",
                        f"d={kind}|{span}|{after}"):
            on[feature] += 1
    return on


def candidates_of(sentence, group):
    """The candidates of one list: (counts of chunks, base score, features that differ within the list)."""
    gold = {chunk for chunk in chunks_of([label for _, _, label in sentence]) if chunk[0] != "O"}
    out = []
    for score, labels in group:
        chunks = chunks_of(labels)
        found = {chunk for chunk in chunks if chunk[0] != "O"}
        out.append(((len(gold & found), len(gold), len(found)), score - group[0][0], features_of(sentence, chunks)))
    everywhere = set(out[0][2].items()).intersection(*(on.items() for _, _, on in out))
    return [(counts, score, dict(on.items() - everywhere)) for counts, score, on in out]


def write_set(path, lists, kept):
    """Writes one set, and returns facts about it."""
    sums, perfect = {"first": [0, 0, 0], "oracle": [0, 0, 0]}, 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=4) as file:
        for group in lists:
            def f1(candidate):
                correct, gold, guessed = candidate[0]
                return 2 * correct / (gold + guessed) if gold + guessed else 1.0

            best = max(group, key=f1)
            perfect += f1(best) == 1.0
            for name, chosen in (("first", group[0]), ("oracle", best)):
                sums[name] = [a + b for a, b in zip(sums[name], chosen[0])]
            for counts, score, on in group:
                fields = ["/".join(map(str, counts)), f"base:{score!r}"]
                fields += [escaped(name) if n == 1 else f"{escaped(name)}:{n}" for name, n in sorted(on.items()) if name in kept]
                file.write("\t".join(fields) + "\n")
            file.write("\n")
    f1_of = {name: 2 * c / (g + s) if g + s else 1.0 for name, (c, g, s) in sums.items()}
    return {"groups": len(lists), "candidates": sum(map(len, lists)), "gold_listed": perfect / len(lists),
            "baseline_f1": f1_of["first"], "oracle_f1": f1_of["oracle"]}


def make(arguments, folder):
    sentences = read_conll(arguments.train)[:arguments.sentences]
    held_out = max(1, round(arguments.dev_share * len(sentences)))
    train, dev, test = sentences[:-held_out], sentences[-held_out:], read_conll(arguments.test)[:arguments.sentences]
    program = Program(arguments, folder)
    lists = [[]] * len(train)
    for fold in range(arguments.folds):
        print(f"fold {fold + 1} of {arguments.folds}", file=sys.stderr)
        inside = range(fold, len(train), arguments.folds)
        others = [s for i, s in enumerate(train) if i % arguments.folds != fold]
        (found,) = program.lists(others, [[train[i] for i in inside]])
        for i, group in zip(inside, found):
            lists[i] = group
    print("all training sentences", file=sys.stderr)
    sets = {"train": (train, lists)}
    sets.update(zip(("dev", "test"), zip((dev, test), program.lists(train, [dev, test]))))

    about, kept = {"nbest": arguments.nbest, "folds": arguments.folds, "base_lambda": arguments.base_lambda,
                   "min_count": arguments.min_count}, None
    with concurrent.futures.ProcessPoolExecutor(arguments.threads) as pool:
        for name, (texts, groups) in sets.items():
            print(f"features of {name}", file=sys.stderr)
            made = list(pool.map(candidates_of, texts, groups, chunksize=64))
            if kept is None:
                differ = collections.Counter()
                for group in made:
                    differ.update({feature for _, _, on in group for feature in on})
                kept = {feature for feature, n in differ.items() if n >= arguments.min_count}
                about["features"] = len(kept) + 1
            about[name] = write_set(arguments.out / f"{name}.gz", made, kept)
    (arguments.out / "about.json").write_text(json.dumps(about, indent=2) + "\n")
    print(json.dumps(about, indent=2))


def main():
    data = pathlib.Path(os.environ.get("PROXBENCH_DATA", ROOT / "../shared/data")) / "conll2000"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder to write to")
    parser.add_argument("--train", type=pathlib.Path, default=data / "train.txt.gz")
    parser.add_argument("--test", type=pathlib.Path, default=data / "test.txt.gz")
    parser.add_argument("--program", default=ROOT / "build/release/proxbench", help="the built program")
    parser.add_argument("--nbest", type=int, default=50)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--dev-share", type=float, default=0.1, help="share of the training file [0.1]")
    parser.add_argument("--base-lambda", default="1", help="l1 penalty of the base model [1]")
    parser.add_argument("--min-count", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="use only the first N of each file, for a quick look")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.folds < 2 or arguments.nbest < 1 or not 0 < arguments.dev_share < 1:
        parser.error("expected --folds >= 2, --nbest >= 1, 0 < --dev-share < 1")
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        make(arguments, folder)


if __name__ == "__main__":
    main()
