"""Rows in, the report of the command out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lpf


def without_inputs(text: str) -> dict:
    """Everything but what was read from where: a file has bytes and columns, rows in memory have neither."""
    report = json.loads(text)
    assert report.pop("inputs")
    return report


def found(checks):
    """Without the commands that checks suggest, which name the log."""
    return {name: replace(check, next=None) for name, check in checks.items()}


def jsonl(path, y, p, **more):
    with open(path, "w") as file:
        for i, (label, row) in enumerate(zip(y.tolist(), p.tolist())):
            extra = {key: column[i] for key, column in more.items()}
            file.write(json.dumps({**extra, "label": label, "probs": row}) + "\n")


def test_same_report_as_the_command_on_the_same_rows(log, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "log.jsonl", log.y, log.p)
    rows = lpf.audit(log.y, log.p, name="log.jsonl")
    file = lpf.audit("log.jsonl")
    code = 0 if rows.passed else 1
    for form in ["html", "text", "markdown", "junit", "sarif", "json"]:
        printed = command("audit", "log.jsonl", "--format", form, code=code)
        assert getattr(file, f"to_{form}")() == printed, form
    assert without_inputs(rows.to_json()) == without_inputs(printed)


def test_a_table_is_read_as_its_file_is(digits, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame(digits.p, schema=[f"prob_{j}" for j in range(10)]).with_columns(
        label=pl.Series([str(v) for v in digits.y])
    )
    table.write_parquet("log.parquet")
    report = lpf.audit("log.parquet", limits={"ece": 0.01}, bins=10)
    printed = command("audit", "log.parquet", "--threshold", "ece=0.01", "--bins", "10",
                      "--format", "json", code=1)  # fmt: skip
    assert report.to_json() == printed
    rows = lpf.audit(table, limits={"ece": 0.01}, bins=10, name="log.parquet")
    assert without_inputs(rows.to_json()) == without_inputs(printed)


def test_the_usual_names_are_found(cancer):
    expected = found(lpf.audit(cancer.y, cancer.p[:, 1]).checks)
    for table in [
        pd.DataFrame({"y_true": cancer.y, "y_prob": cancer.p[:, 1]}),
        pl.DataFrame({"target": cancer.y == 1, "y_score": cancer.p[:, 1]}),
        pa.table({"y": cancer.y, "probs": cancer.p.tolist()}),
        pd.DataFrame(cancer.p).assign(label=cancer.y),
    ]:
        assert found(lpf.audit(table).checks).keys() == expected.keys()
        for name in ["ece", "accuracy", "brier"]:
            value = lpf.audit(table).checks[name].value
            assert value == pytest.approx(expected[name].value, rel=1e-12), (list(table), name)
    named = pd.DataFrame({"label": np.array(["ok", "bad"])[cancer.y], "p_bad": cancer.p[:, 1]})
    with pytest.raises(lpf.Error, match="positive"):
        lpf.audit(named)
    assert lpf.audit(named, positive="bad").checks["ece"].value == expected["ece"].value


def frames(y, p):
    """The same table in every library, with names of classes in its columns."""
    names = [f"c{j}" for j in range(p.shape[1])]
    columns = {f"prob_{n}": np.ascontiguousarray(p[:, j]) for j, n in enumerate(names)}
    labels = [names[v] for v in y]
    yield pd.DataFrame({"label": labels, **columns})
    yield pd.DataFrame({"label": pd.Categorical(labels, categories=names), **columns})
    yield pd.DataFrame({"label": labels, **columns}).convert_dtypes()
    yield pl.DataFrame({"label": labels, **columns})
    yield pa.table({"label": labels, **columns})
    yield {"label": labels, **columns}


def test_every_table_gives_the_same_report(wine):
    names = np.array(["c0", "c1", "c2"])
    expected = lpf.audit(names[wine.y], wine.p, classes=names).to_json()
    for table in frames(wine.y, wine.p):
        assert lpf.audit(table).to_json() == expected, type(table)
    table = next(frames(wine.y, wine.p))
    assert lpf.audit(table["label"], table.filter(like="prob_")).to_json() == expected
    # In any layout, and from lists.
    for p in [np.asfortranarray(wine.p), wine.p.tolist(), wine.p[::-1][::-1]]:
        assert lpf.audit(names[wine.y], p, classes=names).to_json() == expected
    # By position: all but the digest, which is that of labels as they were given.
    for y in [wine.y, wine.y.astype(float), wine.y.astype(np.uint8), wine.y.tolist()]:
        found = lpf.audit(y, wine.p, classes=names).to_json()
        assert without_inputs(found) == without_inputs(expected)


def test_nothing_is_copied_but_a_batch():
    import tracemalloc

    n = 400_000
    p = np.full((n, 4), 0.25)
    y = np.zeros(n, dtype=np.int64)
    tracemalloc.start()
    lpf.audit(y, p, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < p.nbytes / 4, f"{peak} of {p.nbytes} bytes"
    # Nor in a table, whose columns name the classes.
    table = pd.DataFrame(p, columns=["prob_0", "prob_1", "prob_2", "prob_3"]).assign(label=y)
    tracemalloc.start()
    lpf.audit(table, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < y.nbytes, f"{peak} of {p.nbytes} bytes"


def test_one_dimension_is_the_probability_of_class_one(cancer):
    one = cancer.p[:, 1]
    assert (
        lpf.audit(cancer.y, one).to_json()
        == lpf.audit(cancer.y, np.column_stack([1 - one, one])).to_json()
    )
    assert lpf.audit(cancer.y == 1, one).to_json() == lpf.audit(cancer.y, one).to_json()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_lower_precision_is_widened_exactly_and_its_sums_are_tolerated(digits, dtype):
    low = digits.p.astype(dtype)
    report = lpf.audit(digits.y, low)
    assert report.checks["validity"].value == 0
    wide = lpf.audit(digits.y, low.astype(np.float64), tolerance=0.01)
    assert report.checks["ece"].value == wide.checks["ece"].value
    # The tolerance is not for everything: a row that is off by more is invalid.
    low[0] *= dtype(0.9)
    assert lpf.audit(digits.y, low).checks["validity"].value == pytest.approx(1 / len(low))


def test_rows_that_cannot_be_used_are_counted_with_their_number_and_reason():
    p = [[0.8, 0.2], [np.nan, 0.2], [0.9, 0.4], [0.5, 0.5], [0.1, 0.9]]
    report = json.loads(lpf.audit([0, 1, 0, 7, np.nan], p, name="log").to_json())
    first = {row["line"]: (row["field"], row["message"]) for row in report["rejected"]["first"]}
    assert sorted(first) == [2, 3, 4, 5]
    assert first[4][0] == "label" and first[4][1].startswith("7 is not one of the classes 0, 1")
    assert first[5] == ("label", "missing")
    with pytest.raises(lpf.RecordError) as error:
        lpf.audit([0, 1, 0, 7, 0], p, name="log", strict=True)
    assert (error.value.file, error.value.line) == ("log", 2)


def test_labels_are_positions_or_names():
    p = [[0.75, 0.25], [0.25, 0.75]]
    accuracy = lambda y, **more: lpf.audit(y, p, **more).checks["accuracy"].value  # noqa: E731
    assert accuracy([0, 1]) == 1
    assert accuracy(["no", "yes"], classes=["no", "yes"]) == 1
    # Numbers that are names of classes, as scikit-learn's classes_ are.
    assert accuracy([1, 2], classes=np.array([1, 2])) == 1
    assert accuracy([0, 1], classes=["no", "yes"]) == 1
    assert accuracy([False, True], classes=np.array([False, True])) == 1
    with pytest.raises(lpf.AuditError, match="is a name, but the classes have none"):
        accuracy(["no", "yes"])
    with pytest.raises(lpf.SettingError, match="3 names, but 2 columns"):
        accuracy([0, 1], classes=["a", "b", "c"])
    with pytest.raises(lpf.RecordError, match="3 labels, but 2 rows"):
        accuracy([0, 1, 1])


def test_rows_of_one_entity_are_one_cluster(digits):
    ids = np.arange(len(digits.y)) // 4
    report = json.loads(lpf.audit(digits.y, digits.p, ids=ids).to_json())
    assert report["entities"]["entities"] == len(set(ids))
    assert report["entities"]["most_rows"] == 4


def test_groups_that_cancel_are_seen_one_by_one(tmp_path, command):
    """Two sites, eight points too sure and too unsure: together they pass, and each fails."""
    rng = np.random.default_rng(5)
    n = 8000
    site = np.array(["north", "south"])[np.arange(n) % 2]
    p = np.full(n, 0.7)
    y = rng.uniform(size=n) < np.where(site == "north", 0.62, 0.78)
    assert lpf.audit(y, p).checks["gap"].verdict != "fail"
    table = pd.DataFrame({"label": y.astype(int), "prob_0": 1 - p, "prob_1": p, "site": site})
    report = lpf.audit(table, groups="site")
    assert not report.passed and len(report.slices) == 2
    gaps = {one.values[0]: one.checks["gap"] for one in report.slices}
    assert gaps["north"].verdict == gaps["south"].verdict == "fail"
    assert gaps["north"].value > 0.05 > -0.05 > gaps["south"].value
    with pytest.raises(lpf.AuditFailed, match="site north"):
        report.raise_for_failure()
    # In every way that groups can be given, and as the command has it.
    p2 = table[["prob_0", "prob_1"]]
    for other in [
        lpf.audit(table["label"], p2, groups=table["site"], classes=[0, 1]),
        lpf.audit(table["label"], p2, groups=pl.DataFrame({"site": site}), classes=[0, 1]),
        lpf.audit(table["label"], p2, groups={"site": site.tolist()}, by="site", classes=[0, 1]),
    ]:
        assert other.to_json() == report.to_json()
    with open(tmp_path / "log.jsonl", "w") as file:
        for label, q, where in zip(y.tolist(), p.tolist(), site.tolist()):
            file.write(json.dumps({"site": where, "label": int(label), "probs": [1 - q, q]}) + "\n")
    printed = command("audit", "log.jsonl", "--by", "site", "--classes", "0,1", "--format", "json", code=1)
    renamed = lpf.audit(table, groups="site", name="log.jsonl", classes=[0, 1])
    assert without_inputs(renamed.to_json()) == without_inputs(printed)
    halves = [lpf.audit(table[i::2], groups="site", name=str(i)) for i in range(2)]
    merged = halves[0].merge(halves[1]).slices
    assert [found(one.checks) for one in merged] == [found(one.checks) for one in report.slices]
    with pytest.raises(lpf.SettingError, match="no column nowhere"):
        lpf.audit(table, groups="nowhere")


def test_sources_that_hurt_are_named():
    rng = np.random.default_rng(6)
    n = 3000
    good = rng.dirichlet([1, 1], size=n)
    y = (rng.uniform(size=n) < good[:, 1]).astype(int)
    bad = rng.dirichlet([0.3, 0.3], size=n)
    evidence = [
        [{"id": "scale", "factor": g}, {"id": "coin", "factor": b}] for g, b in zip(good.tolist(), bad.tolist())
    ]
    p = lpf.aggregate(np.stack([good, bad], axis=1))
    report = lpf.audit(y, p, evidence=evidence, by="evidence.id")
    assert [source.id for source in report.sources] == ["coin", "scale"]
    assert [source.effect for source in report.sources] == ["hurts", "helps"]


def test_evidence_as_in_a_log(tmp_path, command):
    rng = np.random.default_rng(3)
    factors = rng.dirichlet([2, 2, 2], size=(300, 4))
    y = np.array([rng.choice(3, p=p) for p in lpf.aggregate(factors)])
    p = lpf.aggregate(factors)
    with open(tmp_path / "log.jsonl", "w") as file:
        for label, row, items in zip(y.tolist(), p.tolist(), factors.tolist()):
            items = [{"factor": item} for item in items]
            file.write(json.dumps({"label": label, "probs": row, "evidence": items}) + "\n")
    report = lpf.audit(y, p, evidence=factors, name="log.jsonl")
    printed = command("audit", "log.jsonl", "--format", "json", code=0 if report.passed else 1)
    assert report.to_json() == printed
    assert report.checks["consistency"].value == 0
    # Swapped answers no longer follow from their factors.
    assert lpf.audit(y, p[::-1], evidence=factors).checks["consistency"].verdict == "fail"


def test_shards_merge_to_the_bytes_of_one_audit(digits):
    half = len(digits.y) // 2
    parts = [
        lpf.audit(digits.y[part], digits.p[part], name=name)
        for name, part in [("a", slice(half)), ("b", slice(half, None))]
    ]
    whole = lpf.audit(digits.y, digits.p)
    merged = parts[0].merge(parts[1])
    assert merged.to_json() == parts[1].merge(parts[0]).to_json()
    assert found(merged.checks) == found(whole.checks)
    again = lpf.Audit.from_state(merged.state())
    assert again.to_json() == merged.to_json()
    with pytest.raises(lpf.AuditError, match="twice"):
        parts[0].merge(parts[0])


def test_merged_as_the_command_merges(digits, tmp_path, command):
    half = len(digits.y) // 2
    for name, part in [("a", slice(half)), ("b", slice(half, None))]:
        state = lpf.audit(digits.y[part], digits.p[part], name=name).state()
        (tmp_path / f"{name}.state").write_bytes(state)
    printed = command("audit", "--merge", "b.state", "a.state", "--format", "json", code=1)
    a = lpf.Audit.from_state((tmp_path / "a.state").read_bytes())
    b = lpf.Audit.from_state((tmp_path / "b.state").read_bytes())
    assert a.merge(b).to_json() == printed


def test_a_baseline_is_compared_with(digits):
    report = lpf.audit(digits.y, digits.p, baseline=(digits.y_fit, digits.p_fit))
    earlier = lpf.audit(digits.y_fit, digits.p_fit, name="baseline")
    drift = report.checks["drift_accuracy"]
    expected = report.checks["accuracy"].value - earlier.checks["accuracy"].value
    assert drift.value == pytest.approx(expected, abs=1e-15)
    assert lpf.audit(digits.y, digits.p, baseline=earlier).to_json() == report.to_json()


def test_failures_are_raised_and_settings_named(digits):
    report = lpf.audit(digits.y, digits.p, limits={"ece": 0.001})
    with pytest.raises(lpf.AuditFailed, match="ece"):
        report.raise_for_failure()
    calm = lpf.audit(digits.y, digits.p, limits={"ece": None, "gap": None})
    assert calm.raise_for_failure() is calm and calm.checks["ece"].verdict == "information"
    with pytest.raises(lpf.SettingError, match="no_such"):
        lpf.audit(digits.y, digits.p, limits={"no_such": 1})
    with pytest.raises(lpf.SettingError, match="bins"):
        lpf.audit(digits.y, digits.p, bins=0)
    with pytest.raises(lpf.SettingError, match="weights"):
        lpf.audit(digits.y, digits.p, weights=np.ones(len(digits.y)))
    with pytest.raises(lpf.FileError, match="no_such.csv"):
        lpf.audit("no_such.csv")
    with pytest.raises(OSError):
        lpf.audit("no_such.csv")


def test_a_notebook_shows_the_figure_first(digits):
    shown = lpf.audit(digits.y, digits.p)._repr_html_()
    assert 0 < shown.index("&lt;svg") < shown.index("&lt;table")
    assert "Mean confidence" in shown
    # One figure, whatever the number of classes: the checks are to be seen without scrolling.
    assert shown.count("&lt;figure") == 1 and "Reliability" in shown


def test_a_calibrator_is_applied_before_answers_are_scored(digits):
    map_ = lpf.Calibrator("temperature").fit(digits.p_fit, digits.y_fit)
    applied = lpf.audit(digits.y, digits.p, calibration=map_)
    by_hand = lpf.audit(digits.y, map_.predict_proba(digits.p))
    assert applied.checks["ece"].value == pytest.approx(by_hand.checks["ece"].value, abs=1e-12)
