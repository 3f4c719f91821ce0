import json
import math
import os
import shutil
import sys
import warnings

import pytest

import proxbench
from proxbench import cli
from proxbench.test_made_up import write_run

sys.path.insert(0, os.path.dirname(__file__))


def text_of(file):
    with open(file, encoding="utf-8") as text:
        return text.read()


def test_frames_have_numbers_and_units(tmp_path):
    write_run(tmp_path, "a", samples=[{"objective": 200, "test_accuracy": 0.5, "test_metrics": "f1=0.25"},
                                      {"seconds": 1, "objective": 101}], notes={"hessians": 2}, options={"k": "v"})
    write_run(tmp_path, "b", samples=[(0, 150)], nnz=None)
    sweep = proxbench.load(tmp_path)
    assert sweep.runs["label"].tolist() == ["a", "b"]
    assert sweep.runs["nnz"].isna().tolist() == [False, True]
    assert sweep.runs["notes.hessians"][0] == 2 and sweep.runs["options"][0] == "k=v"
    assert sweep.runs.attrs["units"]["seconds"] == "s"
    assert sweep.samples["test_metrics.f1"][0] == 0.25 and math.isnan(sweep.samples["test_metrics.f1"][1])
    assert sweep.samples["relative_difference"].tolist() == [1.0, 0.01, 0.5]
    assert sweep.samples["run"].tolist() == [0, 0, 1]


def test_times_know_intervals_and_the_accuracy_of_the_reference(tmp_path):
    write_run(tmp_path, "a", samples=[(0, 200), (1, 150), (4, 100.5)], reference_relative_gap=1e-4)
    times = proxbench.load(tmp_path).times([1e-2, 1e-6], costs=["seconds"])
    first, second = times.to_dict("records")
    assert (first["from"], first["to"], first["wide"], first["text"]) == (1, 4, True, "1.00-4.00")
    assert not second["exact"] and second["text"] == "?" and second["to"] == math.inf


def test_runs_are_sorted_as_the_config_has_them_and_foreign_runs_are_left_out(tmp_path):
    for label in "ab":
        write_run(tmp_path, label)
    (tmp_path / "config.ini").write_text("[experiment]\nname = e\nlambda = 1\n[data.d]\n[solver.b]\n[solver.a]\n")
    assert proxbench.load(tmp_path).runs["label"].tolist() == ["b", "a"]
    (tmp_path / "config.ini").write_text("[experiment]\nname = e\nlambda = 1\n[data.d]\n[solver.b]\n")
    with pytest.warns(UserWarning, match="left out 1 of 2 stored runs: .*config.ini has no solver a"):
        assert len(proxbench.load(tmp_path).runs) == 1


def test_a_tighter_reference_of_the_folder_replaces_that_of_the_record(tmp_path):
    run = write_run(tmp_path, "a")
    os.makedirs(tmp_path / "references")
    record = json.loads(text_of(os.path.join(run, "manifest.json")))
    record["objective"], record["relative_gap"] = 99.0, 1e-3
    (tmp_path / "references/d-lambda1.json").write_text(json.dumps(record))
    sweep = proxbench.load(tmp_path)
    assert sweep.runs["reference_objective"][0] == 99.0 and sweep.runs["reference_accuracy"][0] == 1e-3
    assert sweep.references["objective"].tolist() == [99.0]


@pytest.mark.parametrize("damage, found", [
    (lambda run: open(run + "/manifest.json", "w").write('{"run"'), "no complete JSON object"),
    (lambda run: open(run + "/manifest.json", "w").write('{"record_version": 2}'), "version 2"),
    (lambda run: os.remove(run + "/manifest.json"), "found no manifest.json, expected a stored run"),
    (lambda run: os.remove(run + "/trace.csv"), "trace.csv: found no readable file"),
    (lambda run: open(run + "/trace.csv", "a").write("1,2,3"), "trace.csv:5: found 3 fields, expected 16"),
    (lambda run: open(run + "/trace.csv", "a").write("0,0,1,0,0,x" + "," * 10 + "\n"), "trace.csv:5: found objective 'x'"),
    (lambda run: open(run + "/trace.csv", "a").write("0,0,-1,0,0,1" + "," * 10 + "\n"), "found iteration '-1', expected a count"),
    (lambda run: open(run + "/trace.csv", "w").write("seconds\n"), "trace.csv:1: found 'seconds'"),
])
def test_a_damaged_run_is_reported_once_and_left_out(tmp_path, capsys, damage, found):
    damage(write_run(tmp_path, "a"))
    write_run(tmp_path, "b")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert proxbench.load(tmp_path).runs["label"].tolist() == ["b"]
    assert len(said) == 1 and found in str(said[0].message)
    assert cli.main(["table", str(tmp_path)]) == 1
    out = capsys.readouterr()
    assert out.err.count(found) == 1 and "| b |" in out.out and "Traceback" not in out.err


@pytest.mark.parametrize("command", [["table"], ["plot"], ["export", "--out", "x.csv"], ["report", "--out", "x.html"],
                                     ["merge", "--out", "m"]])
def test_a_folder_without_results_is_an_error_and_leaves_no_file(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    os.mkdir("empty")
    assert cli.main([command[0], "empty", *command[1:]]) == 1
    assert "empty/runs: found no run, expected the results of `proxbench run`" in capsys.readouterr().err
    assert os.listdir() == ["empty"] and os.listdir("empty") == []


def test_wrong_usage_ends_with_2(tmp_path, capsys):
    write_run(tmp_path, "a")
    for arguments in (["tabel"], ["table"], ["table", str(tmp_path), "--kind", "mean"], ["table", str(tmp_path), "--par", "0.5"],
                      ["plot", str(tmp_path), "--kind", "histogram"], ["plot", str(tmp_path), str(tmp_path)],
                      ["table", str(tmp_path), "--solvers", "b"], ["table", str(tmp_path), "--columns", "nzz"], []):
        assert cli.main(arguments) == 2, arguments
    assert "did you mean" in capsys.readouterr().err


@pytest.mark.parametrize("line, found", [
    ("x = sconds", "config.ini:5: [plot] x: found 'sconds' (did you mean 'seconds'?)"),
    ("shift = 0", "config.ini:5: [plot] shift: found '0', expected a real, 0 < shift"),
    ("x_max = 1, 2", "config.ini:5: [plot] x_max: found 2 numbers, expected one for each of x = seconds"),
    ("seconds", "config.ini:5: found 'seconds', expected [section] or key = value")])
def test_an_error_in_a_config_names_the_line(tmp_path, capsys, line, found):
    write_run(tmp_path, "a")
    (tmp_path / "config.ini").write_text(f"[experiment]\nname = e\nlambda = 1\n[plot]\n{line}\n[data.d]\n[solver.a]\n")
    assert cli.main(["table", str(tmp_path)]) in (1, 2)
    assert found in capsys.readouterr().err


@pytest.mark.parametrize("command", [["table", "--out"], ["plot", "--out"], ["table", "--json"], ["report", "--out"],
                                     ["export", "--out"], ["merge", "--out"]])
def test_an_output_that_cannot_be_written_ends_a_command_before_its_work(tmp_path, monkeypatch, capsys, command):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("proxbench.sweep.load_folder", None)  # nothing is read
    monkeypatch.setattr("proxbench.merge.merge_results", None)
    assert cli.main([command[0], "r", *command[1:], str(tmp_path / "file/x.csv")]) == 1
    assert "file/x.csv: cannot be written: expected a folder" in capsys.readouterr().err


def test_export_for_benchopt_has_its_columns(tmp_path, monkeypatch, capsys):
    import pandas

    for repetition in (1, 2):
        write_run(tmp_path / "r", "a", repetition=repetition, samples=[(0, 200), (1, 101), (2, 100)])
    monkeypatch.chdir(tmp_path)
    assert cli.main(["export", "r", "--out", "outputs.csv", "--benchopt"]) == 0
    assert sorted(os.listdir()) == ["outputs.csv", "r"]
    frame = pandas.read_csv("outputs.csv")
    assert frame["data_name"].unique() == ["d"] and frame["objective_name"].unique() == ["lambda = 1; mu = 0"]
    assert frame["solver_name"].unique() == ["a"] and frame["idx_rep"].tolist() == [0, 0, 0, 1, 1, 1]
    # What its page draws: medians over repetitions of each objective_ column, by stop_val.
    curve = frame.groupby("stop_val")[["time", "objective_value"]].median()
    assert curve["objective_value"].tolist() == [200, 101, 100] and curve["time"].tolist() == [0, 1, 2]
    assert cli.main(["export", "r", "--out", "x.csv", "--benchopt", "--samples"]) == 2
    assert "--samples and --benchopt: found both, expected one of them" in capsys.readouterr().err


def test_export_writes_csv_sqlite_and_names_what_parquet_needs(tmp_path, monkeypatch, capsys):
    import sqlite3

    import pandas

    write_run(tmp_path / "r", "a", samples=[{"objective": 200, "test_metrics": "f1=0.5"}, {"seconds": 1, "objective": 101}],
              description='words, "made" up', seed=9007199254740991)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["export", "r", "--out", "x.csv"]) == 0
    runs, samples = pandas.read_csv("x.csv"), pandas.read_csv("x-samples.csv")
    assert runs["description"][0] == "words;  made  up" and runs["nnz"][0] == 5 and "seed" in runs
    assert "9007199254740991" in text_of("x.csv") and '"' not in text_of("x.csv")
    assert samples["test_metrics.f1"].tolist()[0] == 0.5 and samples["objective"].tolist() == [200, 101]
    assert cli.main(["export", "r", "--out", "x.sqlite"]) == 0
    assert sqlite3.connect("x.sqlite").execute("SELECT count(*), max(seconds) FROM samples").fetchall() == [(2, 1.0)]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert cli.main(["export", "r", "--out", "x.parquet"]) == 1
    assert "pyarrow" in capsys.readouterr().err and not os.path.exists("x.parquet")


def test_merge_copies_bytes_and_keeps_runs_of_other_machines_apart(tmp_path, capsys):
    write_run(tmp_path / "one", "a")
    write_run(tmp_path / "two", "a", machine_name="n", machine_id="2")
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    assert cli.main(["merge", *(str(tmp_path / name) for name in ("one", "two", "copy")), "--out", str(tmp_path / "all")]) == 0
    assert sorted(os.listdir(tmp_path / "all/runs")) == ["d-lambda1-a-rep1", "d-lambda1-a-rep1@n"]
    name = "runs/d-lambda1-a-rep1/manifest.json"
    assert text_of(tmp_path / "one" / name) == text_of(tmp_path / "all" / name)
    write_run(tmp_path / "three", "a", seconds=9.0)
    assert cli.main(["merge", str(tmp_path / "one"), str(tmp_path / "three"), "--out", str(tmp_path / "no")]) == 2
    assert not os.path.exists(tmp_path / "no") and "different results of the same run" in capsys.readouterr().err


def test_several_folders_are_one_sweep_of_runs_with_numbers_of_their_own(tmp_path):
    for name, objective in (("one", 99.0), ("two", 98.0)):
        run = write_run(tmp_path / name, "a", samples=[(0, 200), (1, 100)])
        record = json.loads(text_of(os.path.join(run, "manifest.json")))
        os.makedirs(tmp_path / name / "references")
        record["objective"] = objective
        (tmp_path / name / "references/d-lambda1.json").write_text(json.dumps(record))
    sweep = proxbench.load(tmp_path / "one", tmp_path / "two")
    assert sweep.samples["run"].tolist() == [0, 0, 1, 1]
    assert sweep.runs["reference_objective"].tolist() == [99.0, 98.0]
    assert sweep.keep(sweep.runs["reference_objective"] < 99).samples["relative_difference"].iloc[1] == 2 / 98
