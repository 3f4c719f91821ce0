"""Tests of what `scripts/reproduce-paper owl-qn` reads from its results."""
import json

from proxbench.tools.common import start


def write(file, value):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def made_up(out):
    sizes = {"groups": 7, "candidates": 70, "gold_listed": 0.5, "baseline_f1": 0.8, "oracle_f1": 0.9}
    write(out / "data/chunk-rerank/about.json", {"nbest": 10, "folds": 3, "features": 5, "dev": sizes, "test": sizes})
    write(out / "results/l1.json", {"chosen_lambda": 3.2})
    write(out / "results/l2.json", {"chosen_mu": 13.0})
    for table, data, f1 in (("table1", "rerank-dev", 0.91), ("table1", "rerank", 0.92), ("table1-l2", "rerank-dev", None)):
        metrics = None if f1 is None else {"ranking-f1": f1}
        write(out / f"results/{table}/runs/{data}/manifest.json", {"run": {"dataset": data}, "test_metrics": metrics})


def test_notes_compare_our_f1_with_the_papers(tmp_path, capsys):
    made_up(tmp_path)
    assert start("reproduce-paper", "notes", str(tmp_path)) in (0, None)
    lists, table = capsys.readouterr().out.splitlines()
    assert lists.startswith("The lists: 10 best, 3 folds, 5 features. dev: 7 sentences, 70 candidates, gold listed for 50.0%")
    assert "l1 (lambda = 3.2) 0.9100 / 0.9200 (0.9101 / 0.9165, C = 3.2)" in table and "l2 (mu = 13) - / -" in table
    assert (tmp_path / "table1.csv").read_text().splitlines()[-1] == 'l1 (lambda = 3.2),0.9100,0.9200,"0.9101 / 0.9165, C = 3.2"'
    assert (tmp_path / "lists.csv").read_text().splitlines()[1] == "dev,7,70,0.5000,0.8000,0.9000"


def test_the_weight_of_a_penalty_is_what_select_chose(tmp_path, capsys):
    made_up(tmp_path)
    start("reproduce-paper", "l2", str(tmp_path))
    assert capsys.readouterr().out == "13.0\n"
    (tmp_path / "results/l1.json").write_text("{")
    assert start("reproduce-paper", "l1", str(tmp_path)) == 1
    assert "expected those of scripts/reproduce-paper owl-qn" in capsys.readouterr().err
