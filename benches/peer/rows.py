"""How time and memory of `lpf audit` and `lpf calibrate` grow with the rows.

A log is made block by block and piped into `lpf audit -` as it is read, up to ten million rows or
ROWS of them (10^8: some minutes), with and without `--by` of fifty groups; the exponent is that of a
straight line through the logarithms of rows and processor seconds, from 10^6 rows on. Then the same log
in four files: their states, merged, against one run over all four, which must agree byte for byte.
Then peak memory of `lpf calibrate` for each method, from a file. Prints Markdown.

    python benches/peer/rows.py        (after: cargo build --release; needs numpy)
"""

import math
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LPF = os.environ.get("LPF", str(ROOT / "target/release/lpf"))
ROWS = int(os.environ.get("ROWS", "10000000"))
BLOCK = 100_000
HEADER = b"site,label,prob_0,prob_1,prob_2\n"
METHODS = ["temperature", "vector", "dirichlet", "histogram", "isotonic", "conformal", "auto"]


def block(seed):
    """Lines of three classes in fifty groups; the probability of the true class is what the row says."""
    import numpy as np

    random = np.random.default_rng(seed)
    p = random.dirichlet([1.0, 0.5, 0.5], BLOCK)
    label = (random.random(BLOCK)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    site = random.integers(0, 50, BLOCK)
    rows = zip(site.tolist(), label.tolist(), p.round(9).tolist())
    return "".join(f"s{s:02},{y},{a},{b},{c}\n" for s, y, (a, b, c) in rows).encode()


# The peak that the kernel reports for a process counts what its memory was before it became the program:
# a copy of this one, with all its blocks. So a small process starts the program, and says what it used.
STARTER = """
import os, sys
said, *command = sys.argv[1:]
_, status, used = os.wait4(os.posix_spawn(command[0], command, os.environ), 0)
with open(said, "w") as out:
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss, file=out)
"""


def run(arguments, blocks=None, rows=0):
    """Wall and processor seconds, peak MiB and output of a command, fed with rows where there are some."""
    with tempfile.TemporaryFile() as out, tempfile.NamedTemporaryFile("r") as said:
        starter = [sys.executable, "-I", "-S", "-c", STARTER, said.name]
        start = time.perf_counter()
        child = subprocess.Popen(
            [*starter, LPF, *arguments], stdin=subprocess.PIPE if blocks else None, stdout=out
        )

        def feed():
            child.stdin.write(HEADER)
            for i in range(rows // BLOCK):
                child.stdin.write(blocks[i % len(blocks)])
            child.stdin.close()

        feeder = threading.Thread(target=feed) if blocks else None
        if feeder:
            feeder.start()
        child.wait()
        wall = time.perf_counter() - start
        if feeder:
            feeder.join()
        code, seconds, peak = said.read().split()
        if int(code) not in (0, 1):
            raise SystemExit(f"{arguments}: exit code {code}")
        out.seek(0)
        return wall, float(seconds), int(peak) / 1024, out.read()


def exponent(points):
    """The slope of log(seconds) over log(rows), by least squares."""
    logs = [(math.log(rows), math.log(seconds)) for rows, seconds in points if rows >= 10**6]
    if len(logs) < 2:
        return math.nan
    x, y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, b in logs)


def grow(blocks):
    plain, sliced = [], []
    audit = ["audit", "-", "--input-format", "csv", "--format", "json"]
    print("| rows | s | processor s | peak MiB | with 50 groups: processor s | ratio | peak MiB |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    rows = BLOCK
    while rows <= ROWS:
        wall, a, memory, _ = run(audit, blocks, rows)
        _, b, more, _ = run([*audit, "--by", "site"], blocks, rows)
        plain.append((rows, a))
        sliced.append((rows, b))
        print(f"| {rows} | {wall:.2f} | {a:.2f} | {memory:.0f} | {b:.2f} | {b / a:.2f} | {more:.0f} |", flush=True)
        rows *= 10
    print(f"\nexponents: {exponent(plain):.3f} without groups, {exponent(sliced):.3f} with them\n")


def shards(blocks, folder):
    """Whether four merged states give the report of one run, in groups too."""
    files, states = [], []
    for i in range(4):
        path = folder / f"part{i}.csv"
        with open(path, "wb") as out:
            out.write(HEADER)
            for j in range(max(ROWS // BLOCK // 40, 1)):
                out.write(blocks[(i * 3 + j) % len(blocks)])
            # No two parts are the same bytes.
            out.write(b"s00,0,0.5,0.25,0.25\n" * (i + 1))
        files.append(str(path))
        states.append(str(folder / f"part{i}.state"))
        run(["audit", files[i], "--by", "site", "--partial", states[i]])
    whole = run(["audit", *files, "--by", "site", "--format", "json"])[3]
    merged = run(["audit", "--merge", *states, "--format", "json"])[3]
    print(f"four merged states give the report of one run: {merged == whole}\n")
    return merged == whole


def calibrate(blocks, folder):
    sizes = [rows for rows in (10**5, 10**6, 10**7) if rows <= ROWS]
    found = {method: [] for method in METHODS}
    for rows in sizes:
        path = folder / "log.csv"
        with open(path, "wb") as out:
            out.write(HEADER)
            for i in range(rows // BLOCK):
                out.write(blocks[i % len(blocks)])
        for method in METHODS:
            output = str(folder / "map.json")
            arguments = ["calibrate", str(path), "--method", method, "--output", output]
            found[method].append(run(arguments)[:3])
    print("| `calibrate`: peak MiB |", " | ".join(f"{rows} rows" for rows in sizes), "| s | processor s |")
    print("|---|" + "---:|" * (len(sizes) + 2))
    for method, runs in found.items():
        wall, cpu, _ = runs[-1]
        peaks = " | ".join(f"{memory:.0f}" for _, _, memory in runs)
        print(f"| {method} | {peaks} | {wall:.1f} | {cpu:.1f} |")


def main():
    version = subprocess.run([LPF, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{version}; Python {platform.python_version()}; {platform.machine()}, {os.cpu_count()} cores\n")
    blocks = [block(seed) for seed in range(16)]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        folder = pathlib.Path(folder)
        grow(blocks)
        same = shards(blocks, folder)
        calibrate(blocks, folder)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
