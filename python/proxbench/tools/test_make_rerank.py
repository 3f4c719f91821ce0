"""Tests of `scripts/make-rerank` on made-up sentences; no model is trained."""
import gzip

import pytest

from proxbench.errors import Error
from proxbench.tools import make_rerank

SENTENCE = [("The", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("sat", "VB", "B-VP")]


def test_columns_are_read_into_sentences(tmp_path):
    file = tmp_path / "train.txt"
    file.write_text("The DT B-NP\ncat NN I-NP\nsat VB B-VP\n\n\na DT O\n")
    assert make_rerank.read_conll(file) == [SENTENCE, [("a", "DT", "O")]]
    with gzip.open(tmp_path / "train.gz", "wt") as zipped:
        zipped.write(file.read_text())
    assert len(make_rerank.read_conll(tmp_path / "train.gz")) == 2
    file.write_text("The DT\n")
    with pytest.raises(Error, match="train.txt:1: found 2 columns, expected word, POS and label"):
        make_rerank.read_conll(file)
    with pytest.raises(Error, match="no file .*/none"):
        make_rerank.read_conll(tmp_path / "none")


def test_the_base_model_sees_words_and_neighbouring_pos(tmp_path):
    make_rerank.write_crfsuite([[("a:b", "DT", "B-NP"), ("Cat", "NN", "I-NP")]], tmp_path / "data")
    assert (tmp_path / "data").read_text() == ("B-NP\tw=a\\:b\tp=DT\tp-=<s>|DT\tp+=DT|NN\n"
                                               "I-NP\tw=cat\tp=NN\tp-=DT|NN\tp+=NN|</s>\n\n")


def test_a_jackknifed_list_is_by_a_model_of_the_other_folds(capsys):
    def lists_of(others, sets):
        (inside,) = sets
        assert sorted(others + inside) == list(range(7)) and not set(others) & set(inside)
        yield [f"list of {one}" for one in inside]
    assert make_rerank.jackknifed(list(range(7)), 3, lists_of) == [f"list of {one}" for one in range(7)]
    assert capsys.readouterr().err.splitlines()[-1] == "fold 3 of 3"


def test_lists_are_read_from_predictions(tmp_path):
    (tmp_path / "lists").write_text("0.5\t-1.5\tO\tB-NP\n0.25\t-2\tO\tO\n\n1\t-3\tO\n\n")
    assert make_rerank.read_lists(tmp_path / "lists") == [[(-1.5, ["O", "B-NP"]), (-2.0, ["O", "O"])], [(-3.0, ["O"])]]


@pytest.mark.parametrize("labels, expected", [
    (["B-NP", "I-NP", "B-NP"], [("NP", 0, 2), ("NP", 2, 3)]),
    (["I-NP", "I-VP", "O", "O", "I-NP"], [("NP", 0, 1), ("VP", 1, 2), ("O", 2, 3), ("O", 3, 4), ("NP", 4, 5)]),
])
def test_chunks_are_those_of_conlleval(labels, expected):
    assert make_rerank.chunks_of(labels) == expected


def test_features_that_all_candidates_share_are_left_out(tmp_path):
    group = [(-1.0, ["B-NP", "I-NP", "B-VP"]), (-2.5, ["B-NP", "B-NP", "B-VP"])]
    first, second = make_rerank.candidates_of(SENTENCE, group)
    assert first[:2] == ((2, 2, 2), 0.0) and second[:2] == ((1, 2, 3), -1.5)
    assert "h=VP|sat" not in first[2] and "n=<s>|NP" not in first[2]
    assert first[2]["p=NP|DT-NN"] == 1 and second[2]["n=NP|NP"] == 1
    kept = make_rerank.kept_of([[first, second], [first]], 2)
    assert "p=NP|DT-NN" in kept and "n=NP|NP" not in kept
    about = make_rerank.write_set(tmp_path / "set.gz", [[first, second]], {"p=NP|DT-NN"})
    assert about == {"groups": 1, "candidates": 2, "gold_listed": 1.0, "baseline_f1": 1.0, "oracle_f1": 1.0}
    with gzip.open(tmp_path / "set.gz", "rt") as file:
        assert file.read() == "2/2/2\tbase:0.0\tp=NP|DT-NN\n1/2/3\tbase:-1.5\n\n"


def test_f1_of_nothing_found_and_nothing_there_is_1():
    assert make_rerank.f1_of(0, 0, 0) == 1.0 and make_rerank.f1_of(1, 2, 2) == 0.5
