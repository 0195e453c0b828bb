"""What people pass in: the same report whatever holds the rows, and a plain exception for what cannot be read."""

from __future__ import annotations

import array
import json
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lpf

RNG = np.random.default_rng(0)
N = 60
P = RNG.dirichlet([1, 1, 1], size=N)
Y = np.array([RNG.choice(3, p=p) for p in P])
NAMES = np.array(["a", "b", "c"])
HALF = [[0.5, 0.5]] * 2


def frame() -> pd.DataFrame:
    return pd.DataFrame(P, columns=[f"prob_{name}" for name in NAMES]).assign(label=NAMES[Y])


def unaligned(x: np.ndarray) -> np.ndarray:
    """The same numbers, one byte off where a number may begin."""
    return np.frombuffer(b"." + x.tobytes(), dtype=np.uint8)[1:].view(x.dtype).reshape(x.shape)


def record(x: np.ndarray) -> np.ndarray:
    """A view whose steps are no whole number of entries."""
    out = np.zeros(len(x), dtype=[("tag", "u1"), ("x", x.dtype)])
    out["x"] = x
    return out["x"]


SAME = {
    "lists": lambda: (Y.tolist(), P.tolist()),
    "tuples": lambda: (tuple(Y.tolist()), [tuple(row) for row in P.tolist()]),
    "generators": lambda: ((y for y in Y.tolist()), (row for row in P.tolist())),
    "objects": lambda: (Y.astype(object), P.astype(object)),
    "texts of numbers": lambda: (Y.astype(str), P.astype("U40")),
    "Fortran's order": lambda: (Y, np.asfortranarray(P)),
    "backwards": lambda: (Y[::-1][::-1], P[::-1, ::-1][::-1, ::-1]),
    "every other": lambda: (np.repeat(Y, 2)[::2], np.repeat(P, 2, axis=0)[::2]),
    "big-endian": lambda: (Y.astype(">i4"), P.astype(">f8")),
    "not aligned": lambda: (unaligned(Y), unaligned(P)),
    "parts of records": lambda: (record(Y), pd.DataFrame({j: P[:, j] for j in range(3)})),
    "read-only": lambda: (Y, np.frombuffer(P.tobytes()).reshape(P.shape)),
    "memoryviews": lambda: (memoryview(Y), memoryview(P)),
    "buffers": lambda: (array.array("q", Y.tolist()), P),
    "long doubles": lambda: (Y.astype(np.longdouble), P.astype(np.longdouble)),
    "no sign": lambda: (Y.astype(np.uint64), P),
    "categories": lambda: (pd.Series(Y).astype("category"), pd.DataFrame(P)),
    "nullable": lambda: (pd.array(Y, dtype="Int64"), pd.DataFrame(P).astype("Float64")),
    "sparse": lambda: (Y, pd.DataFrame(P).astype(pd.SparseDtype("float64", 0.0))),
    "another index": lambda: (pd.Series(Y, index=np.arange(N) * 7 + 3), pd.DataFrame(P)),
    "one index for all": lambda: (pd.Series(Y, index=[0] * N), pd.DataFrame(P, index=[0] * N)),
    "polars": lambda: (pl.Series(Y), pl.DataFrame(P)),
    "polars, lazy": lambda: (pl.Series(Y), pl.DataFrame(P).lazy()),
    "polars, lists": lambda: (pl.Series(Y), pl.Series(P.tolist())),
    "Arrow": lambda: (pa.array(Y), pa.table({str(j): P[:, j] for j in range(3)})),
    "Arrow, in chunks": lambda: (pa.chunked_array([Y[:7], Y[7:]]), pa.chunked_array([P[:9].tolist(), P[9:].tolist()])),
}


@pytest.mark.parametrize("how", SAME)
def test_whatever_holds_the_rows(how):
    y, p = SAME[how]()
    expected = json.loads(lpf.audit(Y, P, classes=range(3)).to_json())
    found = json.loads(lpf.audit(y, p, classes=range(3)).to_json())
    # The digest is also that of labels as they were given.
    for report in (expected, found):
        for part in report["inputs"]:
            part.pop("sha256")
    assert found == expected


TABLES = {
    "categories": lambda t: t.assign(label=t.label.astype("category")),
    "more categories": lambda t: t.assign(label=pd.Categorical(t.label, ["z", "c", "b", "a"])),
    "strings": lambda t: t.assign(label=t.label.astype("string")),
    "objects": lambda t: t.astype(object),
    "bytes": lambda t: {**t, "label": t.label.to_numpy().astype("S1")},
    "of Arrow": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
    "an index": lambda t: t.set_index(np.arange(N) * 7 + 3),
    "polars": pl.from_pandas,
    "polars, lazy": lambda t: pl.from_pandas(t).lazy(),
    "polars, categories": lambda t: pl.from_pandas(t).with_columns(pl.col("label").cast(pl.Categorical)),
    "polars, enumeration": lambda t: pl.from_pandas(t).with_columns(pl.col("label").cast(pl.Enum(list("abc")))),
    "a batch": pa.RecordBatch.from_pandas,
    "a stream": lambda t: pa.Table.from_pandas(t).to_reader(),
    "a dictionary": lambda t: pa.table({**t, "label": pa.array(t.label).dictionary_encode()}),
}


@pytest.mark.parametrize("how", TABLES)
def test_whatever_the_table_is(how):
    assert lpf.audit(TABLES[how](frame())).to_json() == lpf.audit(frame()).to_json()


MISSING = {
    "NaN": ([0, 1, 1], [[np.nan, 0.5], [0.5, 0.5], [0.4, 0.6]]),
    "None": ([0, 1, 1], np.array([[None, 0.5], [0.5, 0.5], [0.4, 0.6]], dtype=object)),
    # NumPy itself would read the number below the mask.
    "masked": ([0, 1, 1], np.ma.masked_array([[0.5, 0.5], [0.5, 0.5], [0.4, 0.6]], [[1, 0], [0, 0], [0, 0]])),
    "null": (pl.Series([0, 1, 1]), pl.Series([None, 0.5, 0.6])),
    "pandas.NA": ([0, 1, 1], pd.array([None, 0.5, 0.6], dtype="Float64")),
    "an infinity": ([0, 1, 1], [[np.inf, 0.5], [0.5, 0.5], [0.4, 0.6]]),
    "no label": ([None, 1, 1], HALF[:1] * 3),
    "a masked label": (np.ma.masked_array([0, 1, 1], [1, 0, 0]), HALF[:1] * 3),
    "a nullable label": (pd.array([None, 1, 1], dtype="Int64"), HALF[:1] * 3),
    "a label that is no class": ([2, 1, 1], HALF[:1] * 3),
    "a label below zero": ([-1, 1, 1], HALF[:1] * 3),
    "the smallest label": (np.array([-(2**63), 1, 1]), HALF[:1] * 3),
    "a label of eight bytes": (np.array([2**63, 1, 1], dtype=np.uint64), HALF[:1] * 3),
    "a label of more bytes": ([2**70, 1, 1], HALF[:1] * 3),
}


@pytest.mark.parametrize("what", MISSING)
def test_the_first_row_is_not_used_and_said_why(what):
    y, p = MISSING[what]
    rejected = json.loads(lpf.audit(y, p).to_json())["rejected"]
    assert rejected["count"] == 1 and rejected["first"][0]["line"] == 1, rejected
    label = "label" in what
    assert rejected["first"][0]["field"].startswith("label" if label else "probabilities")
    if "no class" in what or "below" in what or "bytes" in what or "smallest" in what:
        assert f"{int(y[0])}" in rejected["first"][0]["message"]


class Sorry:
    """Something that looks like an array, and fails."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("boom")


A, K, S, G, B = lpf.audit, lpf.Calibrator, lpf.ConformalSets, lpf.aggregate, lpf.SpnBuilder
REFUSED = {
    "rows of two lengths": (lambda: A([0, 1], [[0.5, 0.5], [0.2, 0.3, 0.5]]), "row 2: probabilities: 3 numbers, but there are 2 classes"),
    "lists of two lengths": (
        lambda: A(pl.DataFrame({"label": [0, 1], "probs": [[0.5, 0.5], [0.2, 0.3, 0.5]]})),
        "3 numbers, but there are 2 classes",
    ),
    "fewer labels": (lambda: A(Y[1:], P), "59 labels, but 60 rows"),
    "three dimensions": (lambda: A(Y, P[None]), "of 3 dimensions"),
    "no dimension": (lambda: A(0, 0.5), "of 0 dimensions"),
    "labels of two dimensions": (lambda: A(np.eye(3)[Y], P), "labels of 2 dimensions"),
    "nothing": (lambda: A([], []), "there is no prediction"),
    "no columns": (lambda: A(Y, np.empty((N, 0))), "60 labels, but 0 rows"),
    "an empty frame": (lambda: A(pd.DataFrame()), "no columns of probabilities"),
    "a frame without rows": (lambda: A(frame()[:0]), "there is no prediction"),
    "two columns of a name": (lambda: A(pd.concat([frame(), frame()], axis=1)), "two columns are called label"),
    "texts": (lambda: A([0], [["a", "b"]]), "could not convert string to float"),
    "complex numbers": (lambda: A(Y, P.astype(complex)), "Complex data not supported"),
    "a record": (lambda: A(Y, np.zeros(N, dtype=[("a", "f8"), ("b", "f8")])), "probabilities: "),
    "a path beside labels": (lambda: A(Y, "log.csv"), "is a text"),
    "no labels": (lambda: A(None, P), "y is None"),
    "a set": (lambda: A({0, 1}, HALF), "a set has no order"),
    "something that fails": (lambda: A(Y, Sorry()), "boom"),
    "more columns than any report has": (lambda: A([0], np.full((1, 2_000_000), 5e-7)), "columns of probabilities"),
    "more classes than a report has": (lambda: A([0], np.full((1, 5000), 2e-4)), "5000 classes; at most 1000"),
    "the same index in another order": (
        lambda: A(frame().label.iloc[::-1], frame().drop(columns="label")),
        "the same index in different orders",
    ),
    "two names alike": (lambda: A(Y, P, classes=["a", "a", "b"]), "given twice"),
    "names in one text": (lambda: A(Y, P, classes="abc"), "is not a list of names"),
    "half a character": (lambda: A(Y, P, classes=["\udc80", "b", "c"]), "is not Unicode text"),
    "groups of two dimensions": (lambda: A(Y, P, groups=np.zeros((N, 2))), "of 2 dimensions"),
    "the name of a column of nothing": (lambda: A(Y, P, groups="site"), "need the column itself"),
    "fewer groups": (lambda: A(Y, P, groups=[1]), "1 groups by group, but 60 rows"),
    "less than no threads": (lambda: A(Y, P, threads=-1), "threads: -1 is not between"),
    "no limit": (lambda: A(Y, P, limits={"ece": "x"}), "limits: ece: 'x' is not a number"),
    "limits without numbers": (lambda: A(Y, P, limits=["ece"]), "a mapping"),
    "bins below zero": (lambda: A(Y, P, bins=-1), "bins: -1 is not between 1 and 1024"),
    "half a bin": (lambda: A(Y, P, bins=2.5), "bins: 2.5 is not a whole number"),
    "a million threads": (lambda: A(Y, P, threads=10**6), "threads: more than"),
    "a seed below zero": (lambda: A(Y, P, seed=-1), "seed: -1 is not between"),
    "evidence that is none": (lambda: A(Y, P, evidence=5), "int holds no items"),
    "evidence without items": (lambda: A([0], [[0.5, 0.5]], evidence=[5]), "row 1: evidence: a list of items"),
    "a thing as evidence": (lambda: A([0], [[0.5, 0.5]], evidence=[[{"factor": object()}]]), "no part of a record"),
    "a folder": (lambda: A("/"), "irectory"),
    "a zero in a path": (lambda: A("a\0b"), "NUL"),
    "no state": (lambda: lpf.Audit.from_state(b"{}"), "not a state"),
    "a map of nothing": (lambda: K("temperature").fit(np.empty((0, 2)), []), "there is no row"),
    "a map of NaN": (lambda: K("temperature").fit([[np.nan, 1.0]], [0]), "rows:1: probabilities"),
    "labels in place of probabilities": (lambda: K("platt").fit(Y, P[:, 0]), "Unknown label type"),
    "a number as a method": (lambda: K(5).fit(P, Y), "method: 5 is not a text"),
    "no map": (lambda: K.load("no_such.json"), "no_such.json: No such file"),
    "no folder": (lambda: K("temperature").fit(P, Y).save("no_such/map.json"), "no_such/map.json: No such file"),
    "no coverage": (lambda: S(float("nan")).fit(P, Y), "coverage NaN"),
    "one dimension of factors": (lambda: G([0.5, 0.5]), "items × classes"),
    "too many weights": (lambda: G(HALF, [1, 2, 3]), "weights: "),
    "an entity that is none": (lambda: G([[[0.5, 0.5]], [[0.5, 0.6]]]), "entity 1: "),
    "no records": (lambda: lpf.Model().infer(None), "records, or the path"),
    "records that are none": (lambda: lpf.Model().infer([object()]), "record 1: "),
    "a node that is none": (lambda: B([2]).product([7]), "there is no node 7"),
    "fewer than no states": (lambda: B([-1]), "-1 is not between"),
    "more draws than memory": (lambda: one_leaf().sample(2**48), "do not fit into memory"),
    "another number of classes": (lambda: lpf.Monitor(2).update(Y, P), "3 numbers, but there are 2 classes"),
}


def one_leaf() -> lpf.Spn:
    b = B([2])
    return b.build(b.leaf(0, [1, 3]))


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_an_exception_that_says_so(what):
    attempt, said = REFUSED[what]
    with pytest.raises((lpf.Error, MemoryError)) as error:
        attempt()
    assert said in str(error.value)


def test_a_setting_that_is_none_is_a_type_error():
    with pytest.raises(TypeError, match="nonsense"):
        lpf.audit(Y, P, nonsense=1)
    with pytest.raises(TypeError, match="no Audit"):
        lpf.audit(Y, P).merge("another")


def test_one_class_and_no_doubt():
    report = lpf.audit(np.zeros(N, dtype=int), np.tile([1.0, 0.0], (N, 1)))
    assert report.checks["accuracy"].value == 1 and report.checks["ece"].value == 0
    fitted = lpf.Calibrator("temperature").fit(P, np.zeros(N, dtype=int))
    assert np.isfinite(fitted.predict_proba(P)).all()


def test_many_threads_at_once():
    """Each audit in a thread of Python's gives what it gives alone."""
    expected = [lpf.audit(Y[i:], P[i:]).to_json() for i in range(6)]
    found = [""] * 6

    def work(i):
        found[i] = lpf.audit(Y[i:], P[i:]).to_json()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_a_map_is_written_whole_or_not_at_all(tmp_path):
    fitted = lpf.Calibrator("temperature").fit(P, Y)
    fitted.save(tmp_path / "map.json")
    fitted.save(tmp_path / "map.json")
    assert [file.name for file in tmp_path.iterdir()] == ["map.json"]
    assert lpf.Calibrator.load(tmp_path / "map.json").to_json() == fitted.to_json()
    (tmp_path / "broken.json").write_bytes(b"\xff\xfe")
    with pytest.raises(lpf.CalibrationError, match="not a calibration map"):
        lpf.Calibrator.load(tmp_path / "broken.json")
