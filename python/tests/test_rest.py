"""Evidence, networks, monitor, the command, the example, and how the package behaves in a process."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lpf

PYTHON = Path(__file__).resolve().parents[1]


def test_aggregates_are_their_formulas():
    rng = np.random.default_rng(0)
    factors = rng.dirichlet([1, 1, 1], size=(50, 4))
    weights = rng.uniform(size=(50, 4))
    product = np.exp((weights[:, :, None] * np.log(factors)).sum(axis=1))
    product /= product.sum(axis=1, keepdims=True)
    assert lpf.aggregate(factors, weights) == pytest.approx(product, rel=1e-12)
    assert lpf.aggregate(factors, method="uniform") == pytest.approx(factors.mean(axis=1), rel=1e-12)
    prior = np.array([0.5, 0.3, 0.2])
    corrected = prior * np.prod(factors / prior, axis=1)
    corrected /= corrected.sum(axis=1, keepdims=True)
    own = lpf.aggregate(factors, method="prior-corrected", prior=prior)
    assert own == pytest.approx(corrected, rel=1e-12)
    # Bits do not depend on the order of items.
    assert (lpf.aggregate(factors[:, ::-1]) == lpf.aggregate(factors)).all()
    assert (lpf.aggregate(factors[0]) == lpf.aggregate(factors)[0]).all()
    with pytest.raises(lpf.SettingError, match="unknown method"):
        lpf.aggregate(factors, method="mean")
    with pytest.raises(lpf.AggregationError):
        lpf.aggregate([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(lpf.DistributionError):
        lpf.aggregate([[0.5, 0.6]])


def test_a_model_answers_as_the_command_does(tmp_path, command):
    command("generate", "compliance", "--entities", "60", "--output", "data.jsonl")
    command("train", "--data", "data.jsonl", "--output", "m.safetensors", "--epochs", "2")
    printed = command("infer", "data.jsonl", "--model", "m.safetensors", "--explain")
    model = lpf.Model.load(tmp_path / "m.safetensors")
    answers = model.infer(tmp_path / "data.jsonl", explain=True)
    assert answers == [json.loads(line) for line in printed.splitlines()]
    records = [json.loads(line) for line in (tmp_path / "data.jsonl").read_text().splitlines()]
    assert model.infer(records, explain=True) == answers
    with pytest.raises(lpf.FileError):
        lpf.Model.load(tmp_path / "no_such.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"nonsense")
    with pytest.raises(lpf.ModelError):
        lpf.Model.load(tmp_path / "bad.safetensors")
    with pytest.raises(lpf.RecordError) as error:
        model.infer(['{"entity": "C5", "evidence": [{"factor": [0.7, 0.7]}]}'])
    assert error.value.field == "evidence[0].factor"


def weather() -> lpf.Spn:
    b = lpf.Spn.builder([2, 3])
    parts = [
        b.product([b.leaf(0, [0.9, 0.1]), b.leaf(1, [0.5, 0.3, 0.2])]),
        b.product([b.leaf(0, [0.2, 0.8]), b.leaf(1, [0.1, 0.2, 0.7])]),
    ]
    return b.build(b.sum([(parts[0], 0.6), (parts[1], 0.4)]))


def test_a_network_is_the_sum_over_all_assignments():
    spn = weather()
    joint = 0.6 * np.outer([0.9, 0.1], [0.5, 0.3, 0.2]) + 0.4 * np.outer([0.2, 0.8], [0.1, 0.2, 0.7])
    for a, b in itertools.product(range(2), range(3)):
        assert spn.log_probability({0: a, 1: b}) == pytest.approx(np.log(joint[a, b]), rel=1e-12)
    assert spn.marginals({1: 2})[0] == pytest.approx(joint[:, 2] / joint[:, 2].sum(), rel=1e-12)
    likelihood = np.array([0.2, 0.5, 1.0])
    weighed = (joint * likelihood).sum(axis=1)
    assert spn.marginals({1: likelihood})[0] == pytest.approx(weighed / weighed.sum(), rel=1e-12)
    best = spn.most_probable()
    assert best.exact and joint[tuple(best.assignment)] == joint.max()
    drawn = spn.sample(20_000, seed=1)
    counts = np.array([[((drawn == [a, b]).all(axis=1)).mean() for b in range(3)] for a in range(2)])
    # Four standard errors of a share of 20,000.
    assert abs(counts - joint).max() < 4 * 0.5 / np.sqrt(20_000)
    with pytest.raises(lpf.NetworkError):
        b = lpf.SpnBuilder([2])
        b.build(b.product([b.leaf(0, [1, 0]), b.leaf(0, [0, 1])]))
    with pytest.raises(lpf.NetworkError):
        spn.log_probability({7: 0})


def test_a_monitor_is_that_of_the_command(digits, tmp_path, command):
    with open(tmp_path / "log.jsonl", "w") as file:
        for label, row in zip(digits.y.tolist(), digits.p.tolist()):
            file.write(json.dumps({"label": label, "probs": row}) + "\n")
    watched = lpf.monitor(digits.y, digits.p, margin=0.0)
    code = 1 if watched.has_alarm else 0
    printed = command("monitor", "log.jsonl", "--margin", "0", "--keep-going", "--state", "s.json", code=code)
    assert printed.endswith(watched.to_text())
    assert [a.sentence for a in watched.alarms] == printed[: -len(watched.to_text())].splitlines()
    watched.save(tmp_path / "own.json")
    assert (tmp_path / "own.json").read_text() == (tmp_path / "s.json").read_text()
    # Saved in the middle and read again, it ends the same.
    half = len(digits.y) // 2
    first = lpf.Monitor(10, margin=0.0)
    first.update(digits.y[:half], digits.p[:half])
    first.save(tmp_path / "half.json")
    second = lpf.Monitor.load(tmp_path / "half.json", 10, margin=0.0)
    second.update(digits.y[half:], digits.p[half:])
    assert second.to_text() == watched.to_text()
    with pytest.raises(lpf.SettingError, match="alpha"):
        lpf.Monitor(10, alpha=2)


def test_groups_are_watched_by_themselves():
    p = np.tile([0.9, 0.1], (200, 1))
    group = np.array(["good", "bad"] * 100)
    y = np.where((group == "bad") & (np.arange(200) % 4 == 1), 1, 0)
    watched = lpf.monitor(y, p, groups=group)
    assert {w["name"] for w in watched.watches if w["part"] == "group"} == {"good", "bad"}
    assert any(a.part == "group" and a.name == "bad" for a in watched.alarms)
    assert not any(a.name == "good" and a.direction == "over-confident" for a in watched.alarms)


def test_the_command_is_in_the_package(command):
    assert command("--version").startswith("lpf ")
    assert "error" in command("audit", "no_such_file.csv", code=2)


def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, PYTHON / "examples" / "ten_minutes.py"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    before, after = (line for line in done.stdout.splitlines() if line.startswith(("before", "after")))
    assert "alarm after" in before and "no alarm" in after, done.stdout


def test_the_stubs_hold():
    mypy = pytest.importorskip("mypy.api")
    out, err, code = mypy.run(["--strict", "--no-error-summary", str(PYTHON / "lpf"), str(PYTHON / "tests" / "typed.py")])
    assert code == 0, out + err


def test_other_threads_run_while_rust_works():
    """Of four threads that count, all get on while an audit works."""
    y, p = np.zeros(300_000, dtype=int), np.full((300_000, 4), 0.25)
    ticks, ended = [], threading.Event()

    def count():
        while not ended.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    lpf.audit(y, p)
    end = time.perf_counter()
    ended.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    assert len(during) > (end - start) / 0.1, "the other thread stood still"


def test_the_native_half_is_what_its_stubs_say():
    pytest.importorskip("mypy.stubtest")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "lpf._lpf"], cwd=PYTHON, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


ENDLESS = """
import os, signal, sys, threading, time
import numpy as np, lpf
p = np.lib.stride_tricks.as_strided(np.array([0.25]), shape=(4_000_000_000, 4), strides=(0, 0))
y = np.lib.stride_tricks.as_strided(np.array([0]), shape=(4_000_000_000,), strides=(0,))
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    lpf.audit(y, p)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_keyboard_interrupt_ends_long_work():
    """An audit of four thousand million rows, which take no memory, ends soon after Ctrl-C."""
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    word, seconds = done.stdout.split()
    assert word == "interrupted" and 0.5 <= float(seconds) < 6
    assert done.stderr == ""


MANY_SLICES = """
import os, signal, threading, time
import numpy as np, lpf
p = np.random.default_rng(0).dirichlet([1, 1, 1], size=40_000)
y, groups = np.zeros(40_000, dtype=int), np.arange(40_000) % 1_000
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    lpf.audit(y, p, groups=groups)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_keyboard_interrupt_ends_judging_too():
    """A thousand slices take many seconds after all rows were read."""
    done = subprocess.run([sys.executable, "-c", MANY_SLICES], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("interrupted") and float(done.stdout.split()[1]) < 6, done.stdout


def audited(seed: int) -> str:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1, 1], size=200)
    return lpf.audit(rng.integers(2, size=200), p).to_json()


@pytest.mark.skipif(os.name != "posix", reason="fork of POSIX")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works_too():
    """Threads are not forked along: a pool that lived on would be waited for forever."""
    expected = audited(1)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(audited, (1,)).get(timeout=60) == expected


def test_spark_partitions_merge_to_one_audit(digits):
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    import lpf.spark

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
        .getOrCreate()
    )
    try:
        names = [f"prob_{j}" for j in range(10)]
        rows = [(str(label), *row) for label, row in zip(digits.y.tolist(), digits.p.tolist())]
        df = spark.createDataFrame(rows, ["label", *names]).repartition(3)
        report = lpf.spark.audit(df, limits={"ece": 0.01})
        whole = lpf.audit(digits.y, digits.p, classes=range(10), limits={"ece": 0.01})
        assert {k: replace(c, next=None) for k, c in report.checks.items()} == {
            k: replace(c, next=None) for k, c in whole.checks.items()
        }
    finally:
        spark.stop()
