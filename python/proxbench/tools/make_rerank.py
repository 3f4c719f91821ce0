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

Exit status: 0 written, 1 no data or a run failed, 2 bad usage.
"""
import collections
import concurrent.futures
import gzip
import json
import sys
from pathlib import Path

from ..errors import Error, UsageError
from .common import DATA, add_program, run, scratch


def add_flags(parser):
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    for name in ("train", "test"):
        parser.add_argument("--" + name, type=Path, default=DATA / f"conll2000/{name}.txt.gz")
    add_program(parser)
    parser.add_argument("--nbest", type=int, default=50)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--dev-share", type=float, default=0.1, help="share of the training file")
    parser.add_argument("--base-lambda", default="1", help="l1 penalty of the base model")
    parser.add_argument("--min-count", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="use only the first N of each file, for a quick look")
    parser.add_argument("--threads", type=int, default=2)


def read_conll(path):
    """Sentences as lists of (word, POS, label)."""
    if not path.is_file():
        raise Error(f"no file {path}, expected CoNLL-2000 (https://www.clips.uantwerpen.be/conll2000/chunking/)")
    sentences, sentence = [], []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if len(fields) == 3:
                sentence.append(tuple(fields))
            elif fields:
                raise Error(f"{path}:{number}: found {len(fields)} columns, expected word, POS and label")
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


class BaseModel:
    """Runs proxbench for the base model."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def run(self, *words):
        run(self.options.program, *words, "--quiet", "--threads", self.options.threads)

    def lists(self, train, sets):
        """Trains on `train` and yields, for each of the sets, the lists of its sentences: [(score, labels)]."""
        data, model, lists = (self.folder / name for name in ("data.txt", "model.tsv", "lists.txt"))
        write_crfsuite(train, data)
        self.run("train", "--format", "crfsuite", "--train", data, "--lambda", self.options.base_lambda, "--tol", "1e-4",
                 "--model", model)
        for sentences in sets:
            write_crfsuite(sentences, data)
            self.run("predict", "--model", model, "--test", data, "--nbest", self.options.nbest, "--output", lists)
            found = read_lists(lists)
            if len(found) != len(sentences):
                raise Error(f"{len(found)} lists of {len(sentences)} sentences")
            yield found


def read_lists(path):
    """The lists that `predict --nbest` wrote: [(score, labels)] for each sentence."""
    found, group = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1:
                group.append((float(fields[1]), fields[2:]))
            else:
                found.append(group)
                group = []
    return found


def jackknifed(train, folds, lists_of):
    """The lists of all sentences, each by a model of the other folds: lists_of(others, [inside]) gives those of `inside`."""
    lists = [[]] * len(train)
    for fold in range(folds):
        print(f"fold {fold + 1} of {folds}", file=sys.stderr)
        others = [sentence for i, sentence in enumerate(train) if i % folds != fold]
        (lists[fold::folds],) = lists_of(others, [train[fold::folds]])
    return lists


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


def f1_of(correct, gold, guessed):
    return 2 * correct / (gold + guessed) if gold + guessed else 1.0


def write_set(path, lists, kept):
    """Writes one set, and returns facts about it."""
    sums, perfect = {"first": [0, 0, 0], "oracle": [0, 0, 0]}, 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=4) as file:
        for group in lists:
            best = max(group, key=lambda candidate: f1_of(*candidate[0]))
            perfect += f1_of(*best[0]) == 1.0
            for name, chosen in (("first", group[0]), ("oracle", best)):
                sums[name] = [a + b for a, b in zip(sums[name], chosen[0])]
            for counts, score, on in group:
                fields = ["/".join(map(str, counts)), f"base:{score!r}"]
                fields += [escaped(name) if n == 1 else f"{escaped(name)}:{n}" for name, n in sorted(on.items()) if name in kept]
                file.write("\t".join(fields) + "\n")
            file.write("\n")
    return {"groups": len(lists), "candidates": sum(map(len, lists)), "gold_listed": perfect / len(lists),
            "baseline_f1": f1_of(*sums["first"]), "oracle_f1": f1_of(*sums["oracle"])}


def kept_of(lists, least):
    """The features that differ in at least so many lists."""
    differ = collections.Counter()
    for group in lists:
        differ.update({feature for _, _, on in group for feature in on})
    return {feature for feature, n in differ.items() if n >= least}


def make(options, folder):
    train, test = (read_conll(path)[:options.sentences] for path in (options.train, options.test))
    held_out = max(1, round(options.dev_share * len(train)))
    train, dev = train[:-held_out], train[-held_out:]
    model = BaseModel(options, folder)
    sets = {"train": (train, jackknifed(train, options.folds, model.lists))}
    print("all training sentences", file=sys.stderr)
    sets.update(zip(("dev", "test"), zip((dev, test), model.lists(train, [dev, test]))))

    about, kept = {name: getattr(options, name) for name in ("nbest", "folds", "base_lambda", "min_count")}, None
    with concurrent.futures.ProcessPoolExecutor(options.threads) as pool:
        for name, (texts, groups) in sets.items():
            print(f"features of {name}", file=sys.stderr)
            made = list(pool.map(candidates_of, texts, groups, chunksize=64))
            if kept is None:
                kept = kept_of(made, options.min_count)
                about["features"] = len(kept) + 1
            about[name] = write_set(options.out / f"{name}.gz", made, kept)
    (options.out / "about.json").write_text(json.dumps(about, indent=2) + "\n")
    print(json.dumps(about, indent=2))


def main(options):
    if options.folds < 2 or options.nbest < 1 or not 0 < options.dev_share < 1:
        raise UsageError("expected --folds >= 2, --nbest >= 1, 0 < --dev-share < 1")
    options.out.mkdir(parents=True, exist_ok=True)
    with scratch("rerank") as folder:
        make(options, folder)
