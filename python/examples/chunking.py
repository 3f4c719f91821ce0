# %% [markdown]
# # Chunking: a CRF on CoNLL-2000
#
# The data are lists of lists of dicts, as for python-crfsuite. The files of CoNLL-2000 are looked for in the folder
# `conll2000` of $PROXBENCH_DATA, or of `../shared/data`. Without them, a small SYNTHETIC task takes their place; its
# numbers say nothing about chunking. PROXBENCH_QUICK takes few sentences.

# %%
import gzip
import os
import random
from pathlib import Path

import proxbench

quick = "PROXBENCH_QUICK" in os.environ


def sentences_of(file):
    """Reads lines `word POS chunk` into a list of sentences, each a list of triples."""
    out = [[]]
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                out[-1].append(tuple(line.split()))
            elif out[-1]:
                out.append([])
    return out if out[-1] else out[:-1]


def made_up_sentences(count, seed):
    """SYNTHETIC sentences: noun phrases and verbs in turn."""
    draw, out = random.Random(seed), []
    for _ in range(count):
        sentence = []
        for _ in range(draw.randint(1, 3)):
            sentence += [("the", "DT", "B-NP"), (f"noun{draw.randint(0, 20)}", "NN", "I-NP"),
                         (f"verb{draw.randint(0, 9)}", "VB", "B-VP")][draw.randint(0, 1):]
        out.append([*sentence, (".", ".", "O")])
    return out


places = [Path(place) / "conll2000" for place in (os.environ.get("PROXBENCH_DATA"), "../shared/data") if place]
found = next((place for place in places if (place / "train.txt.gz").exists()), None)
if found:
    train, test = (sentences_of(found / f"{part}.txt.gz") for part in ("train", "test"))
else:
    print("found no CoNLL-2000: the data are SYNTHETIC")
    train, test = made_up_sentences(300, 1), made_up_sentences(100, 2)
if quick:
    train, test = train[:100], test[:50]

# %% [markdown]
# Words and POS tags of the neighbours. A string `"the"` under the key `"w[0]"` is the attribute `w[0]:the`.


# %%
def features_of(sentence, t):
    out = {"bias": 1.0, "suffix": sentence[t][0][-3:], "is_title": sentence[t][0].istitle()}
    for shift in range(-2, 3):
        if 0 <= t + shift < len(sentence):
            out[f"w[{shift}]"], out[f"pos[{shift}]"] = sentence[t + shift][:2]
    return out


def X_and_y(sentences):
    return ([[features_of(one, t) for t in range(len(one))] for one in sentences],
            [[label for *_, label in one] for one in sentences])


X_test, y_test = X_and_y(test)
data = proxbench.sequences(*X_and_y(train), test=(X_test, y_test))
print(data, data.facts(test=True)["instances"], "test sentences")

# %% [markdown]
# F is certified to be within 1e-3 of its minimum.

# %%
result = proxbench.train(data, lambda_=1.0, mu=0.1, gap=1e-3, threads=1 if quick else 0)
print(result)
metrics = result.model.metrics(data, test=True)
print({name: round(value, 4) for name, value in metrics.items()})

# %% [markdown]
# Labels of new sentences, the best three labellings of one, and the heaviest transitions.

# %%
model = result.model
predicted = model.predict(X_test)
print(list(zip((word for word, *_ in test[0]), predicted[0])))
for score, labels in model.nbest(X_test[:1], 3)[0]:
    print(f"{score:.3f}", labels)
print(sorted(model.transition_features_.items(), key=lambda one: -one[1])[:5])
model.save("chunking.tsv")  # `proxbench predict --model chunking.tsv` reads it
