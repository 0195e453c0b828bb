"""Whatever holds predictions, as columns that the library reads where they lie."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from ._errors import Error, RecordError, SettingError
from ._lpf import Rows, columns

#: What stands for a label or a group that is missing.
_MISSING = np.iinfo(np.int64).min

#: More columns than any report has classes: not even looked at.
_MOST_COLUMNS = 1 << 16

Path = Union[str, "os.PathLike[str]"]


class Given(NamedTuple):
    """Rows, and what they are called."""

    rows: Rows
    #: The names of the classes, where they have some.
    classes: Optional[list[str]]
    #: The names of the groups.
    fields: list[str]


class Table:
    """A DataFrame or an Arrow table: names, and a column for each."""

    def __init__(self, names: Sequence[object], cells: Sequence[Any]) -> None:
        self.names = [str(name) for name in names]
        self.cells = list(cells)


def table_of(value: Any) -> Optional[Table]:
    """The table that a value is, if it is one; only columns that are asked for are looked at."""
    if hasattr(value, "tocsr"):
        raise RecordError("sparse input is not supported; give a dense array")
    kind = type(value).__module__.partition(".")[0]
    if kind == "pandas" and hasattr(value, "iloc") and hasattr(value, "columns"):
        return Table(value.columns, [value.iloc[:, j] for j in range(value.shape[1])])
    if kind == "polars":
        if hasattr(value, "collect"):
            value = value.collect()
        if hasattr(value, "get_columns"):
            return Table(value.columns, value.get_columns())
    if kind == "pyarrow" and hasattr(value, "column_names"):
        return Table(value.column_names, list(value.columns))
    if hasattr(value, "__arrow_c_stream__") and not _is_column(value):
        try:
            import pyarrow  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise SettingError(
                f"{type(value).__name__} is an Arrow stream, which pyarrow is needed for"
            ) from None
        taken = pyarrow.table(value)
        return Table(taken.column_names, list(taken.columns))
    if isinstance(value, Mapping):
        return Table(list(value.keys()), list(value.values()))
    return None


def _is_column(value: Any) -> bool:
    """A single column: pandas and polars Series, Arrow arrays."""
    return hasattr(value, "to_numpy") and not hasattr(value, "columns")


def _plain(column: Any) -> npt.NDArray[Any]:
    """A column as an array, without copying where it is one already."""
    if isinstance(column, np.ma.MaskedArray):
        # What is masked is missing: NumPy itself would read what lies below the mask.
        masked = np.ma.getmaskarray(column)
        if not masked.any():
            return np.asarray(column.data)
        array = column.data.astype(object)
        array[masked] = None
        return np.asarray(array)
    if isinstance(column, (set, frozenset, Mapping)):
        raise RecordError(f"a {type(column).__name__} has no order of rows; give an array or a list")
    if isinstance(column, Iterator):
        column = list(column)
    kind = type(column).__module__.partition(".")[0]
    if kind == "pyarrow":
        return np.asarray(
            column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
        )
    dtype: Any = getattr(column, "dtype", None)
    if kind == "pandas" and not isinstance(dtype, np.dtype) and hasattr(dtype, "numpy_dtype"):
        # A nullable column: what is missing is NaN, where there is such a number.
        if np.dtype(dtype.numpy_dtype).kind == "f":
            return np.asarray(column.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan))
        if column.isna().any():
            return np.asarray(column.to_numpy(dtype=object, na_value=None))
        return np.asarray(column.to_numpy(dtype=dtype.numpy_dtype))
    if hasattr(column, "to_numpy"):
        return np.asarray(column.to_numpy())
    return np.asarray(column)


def _values(column: Any) -> npt.NDArray[Any]:
    """A column of labels, groups or names as an array of one dimension."""
    try:
        array = _plain(column)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise error if isinstance(error, Error) else RecordError(str(error)) from None
    if array.dtype.kind == "S":
        try:
            array = np.char.decode(array, "utf-8")
        except UnicodeDecodeError as error:
            raise RecordError(f"{error.object!r} is not UTF-8") from None
    return array


def numbers(column: Any) -> npt.NDArray[Any]:
    """Floating-point numbers as they are, in double, single or half precision; anything else in double."""
    try:
        array = _numbers(column)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise error if isinstance(error, Error) else RecordError(f"probabilities: {error}") from None
    # Columns are read where they lie; what lies askew, or nowhere, is copied.
    return array if array.flags.aligned and array.size else array.copy()


def _numbers(column: Any) -> npt.NDArray[Any]:
    if isinstance(column, (str, bytes, os.PathLike)):
        raise RecordError(
            f"probabilities: {column!r} is a text; the path of a whole log goes alone: lpf.audit(path)"
        )
    if isinstance(column, Iterator):
        column = list(column)
    if isinstance(column, (list, tuple)):
        _same_lengths(column)
    array = _plain(column)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and array.dtype.isnative:
        return array
    if array.dtype == object and array.ndim == 1 and len(array) and np.ndim(array[0]) == 1:
        _same_lengths(array)
        array = np.stack([np.asarray(row, dtype=np.float64) for row in array])
    if array.dtype.kind == "c":
        raise RecordError("probabilities: Complex data not supported")
    return array.astype(np.float64)


def _same_lengths(rows: Iterable[Any]) -> None:
    """That each row has as many numbers as the first."""
    first: Optional[int] = None
    for i, row in enumerate(rows):
        found = len(row) if hasattr(row, "__len__") and not isinstance(row, str) else -1
        first = found if first is None else first
        if found != first:
            said = "one number" if found < 0 else f"{found} numbers"
            before = "one" if first < 0 else f"there are {first} classes"
            raise RecordError(
                f"row {i + 1}: probabilities: {said}, but {before}", line=i + 1, field="probabilities"
            )


def _has_codes(column: Any) -> bool:
    """Whether it is a categorical column of pandas."""
    dtype: Any = getattr(column, "dtype", None)
    return hasattr(column, "cat") and hasattr(dtype, "categories") and hasattr(column.cat, "codes")


def coded(column: Any) -> tuple[npt.NDArray[np.int64], list[object]]:
    """Codes of the values of a column, in the order of their first appearance; nothing has no code."""
    if _has_codes(column):
        codes = np.asarray(column.cat.codes).astype(np.int64)
        codes[codes < 0] = _MISSING
        return codes, list(column.dtype.categories)
    array = _values(column)
    if array.ndim != 1:
        raise RecordError(f"values of {array.ndim} dimensions; one for each row is needed")
    if array.dtype.kind in "iub":
        values, codes = np.unique(array, return_inverse=True)
        return codes.reshape(-1).astype(np.int64), list(values.tolist())
    if array.dtype.kind == "f":
        values, codes = np.unique(array, return_inverse=True)
        codes = codes.reshape(-1).astype(np.int64)
        codes[np.isnan(array)] = _MISSING
        # NaN, which is sorted to the end, has no code.
        there = (v for v in values.tolist() if v == v)
        said = [int(v) if v.is_integer() and abs(v) < 2**53 else v for v in there]
        return codes, said
    table: dict[object, int] = {}
    try:
        found = [
            _MISSING if value is None or value != value else table.setdefault(value, len(table))
            for value in array.tolist()
        ]
    except TypeError as error:
        raise RecordError(str(error)) from None
    return np.array(found, dtype=np.int64), list(table)


def _small(array: Any) -> Optional[tuple[npt.NDArray[np.int64], list[int]]]:
    """Whole numbers from 0 to a few thousands, and which of them occur."""
    dtype = getattr(array, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iu" or not len(array):
        return None
    if array.min() < 0 or array.max() >= _MOST_COLUMNS:
        return None
    codes = np.require(array, dtype=np.int64, requirements="A")
    counts = np.zeros(int(array.max()) + 1, dtype=np.int64)
    for start in range(0, len(codes), _MOST_COLUMNS):
        counts += np.bincount(codes[start : start + _MOST_COLUMNS], minlength=len(counts))
    return codes, [int(value) for value in np.flatnonzero(counts)]


def _labels(
    y: Any, classes: Optional[list[str]]
) -> tuple[npt.NDArray[np.int64], Optional[list[str]]]:
    """True classes: positions, or codes of names. A number is a name where a class is called so."""
    array = y if _has_codes(y) else _values(y)
    if getattr(array, "ndim", 1) != 1:
        raise RecordError(f"labels of {array.ndim} dimensions; one label for each row is needed")
    dtype = getattr(array, "dtype", None)
    # Of eight bytes without a sign, not all are numbers of eight bytes with one.
    if classes is None and isinstance(dtype, np.dtype) and dtype.kind in "iub" and dtype != np.uint64:
        found = np.require(array, dtype=np.int64, requirements="A")
        if not (len(found) and found.min() == _MISSING):
            return found, None
    known = set(classes or ())
    small = _small(array)
    if small is not None:
        # As they are, whether they are positions or their names are meant: nothing is copied.
        found, numbers_in = small
        named = any(str(value) in known for value in numbers_in)
        return found, [str(value) for value in range(max(numbers_in) + 1)] if named else None
    codes, values = coded(array)
    whole = all(isinstance(v, (int, np.integer, bool)) and abs(int(v)) < 2**63 for v in values)
    if whole and not any(str(value) in known for value in values):
        positions = np.array([int(value) for value in values], dtype=np.int64)  # type: ignore[call-overload]
        out = np.full(len(codes), _MISSING, dtype=np.int64)
        there = codes != _MISSING
        out[there] = positions[codes[there]]
        return out, None
    return codes, [str(value) for value in values]


def _texts(column: Any) -> list[Optional[str]]:
    """Names of entities."""
    array = _values(column)
    if array.ndim != 1:
        raise RecordError(f"ids of {array.ndim} dimensions; one for each row is needed")
    return [None if v is None or v != v else str(v) for v in array.tolist()]


def fields_of(groups: Any, count: int) -> list[tuple[str, tuple[npt.NDArray[np.int64], list[str]]]]:
    """Groups as named columns of codes: a column called ``group``, or the columns of a table."""
    if groups is None:
        return []
    if isinstance(groups, str):
        raise SettingError(
            f"groups: {groups!r} names a column; rows without a table need the column itself", field="groups"
        )
    table = table_of(groups)
    if table is None:
        name = getattr(groups, "name", None)
        table = Table([name if isinstance(name, str) and name else "group"], [groups])
    out = []
    for name, column in zip(table.names, table.cells):
        codes, values = coded(column)
        if len(codes) != count:
            raise RecordError(f"{len(codes)} groups by {name}, but {count} rows")
        out.append((name, (codes, [str(value) for value in values])))
    return out


def rows_of(
    y: Any,
    p: Any,
    *,
    classes: Optional[Iterable[object]] = None,
    ids: Any = None,
    groups: Any = None,
    name: str = "rows",
) -> Given:
    """Predictions, their outcomes where ``y`` is given, names and groups, as the rows of a log."""
    names = names_of(classes)
    _same_order({"labels": y, "probabilities": p, "groups": groups, "ids": ids})
    if p is None:
        raise RecordError("there are no probabilities")
    table = table_of(p)
    width = len(table.cells) if table is not None else getattr(p, "shape", (0, 0))[1:2]
    if (width if isinstance(width, int) else sum(width)) > _MOST_COLUMNS:
        raise RecordError(f"more than {_MOST_COLUMNS} columns of probabilities")
    if table is not None:
        cells = [numbers(cell) for cell in table.cells]
        if names is None and len(cells) > 1:
            names = _stripped(table.names)
        if len(cells) == 1 and cells[0].ndim == 2:
            cells = [cells[0][:, j] for j in range(cells[0].shape[1])]
    else:
        array = numbers(p)
        if array.ndim == 2:
            cells = [array[:, j] for j in range(array.shape[1])]
        elif array.ndim == 1:
            cells = [array]
        else:
            raise RecordError(
                f"probabilities of {array.ndim} dimensions; one column for each class is needed, or one "
                "dimension for the probability of class 1"
            )
    if len(cells) == 1:
        one = cells[0].astype(np.float64)
        cells = [1.0 - one, one]
    count = len(cells[0]) if cells else 0
    if names is not None and len(names) != len(cells):
        raise SettingError(
            f"classes: {len(names)} names, but {len(cells)} columns of probabilities", field="classes"
        )
    labels = None if y is None else _labels(y, names)
    if labels is not None and len(labels[0]) != count:
        raise RecordError(f"{len(labels[0])} labels, but {count} rows of probabilities")
    entities = None if ids is None else _texts(ids)
    if entities is not None and len(entities) != count:
        raise RecordError(f"{len(entities)} ids, but {count} rows of probabilities")
    fields = fields_of(groups, count)
    try:
        rows = Rows(name, cells, labels, names, entities, fields)
    except UnicodeEncodeError as error:
        raise RecordError(f"{error.object!r} is not Unicode text: {error.reason}") from None
    return Given(rows, names, [name for name, _ in fields])


def _same_order(given: Mapping[str, Any]) -> None:
    """That no two columns of pandas name the same rows in different orders: rows go by their position."""
    named = [(what, v.index) for what, v in given.items() if type(v).__module__.partition(".")[0] == "pandas"
             and hasattr(v, "index") and hasattr(v, "iloc")]  # fmt: skip
    for what, index in named[1:]:
        first, other = named[0]
        if len(other) != len(index) or other.equals(index) or not (other.is_unique and index.is_unique):
            continue
        if other.isin(index).all():
            raise RecordError(
                f"{first} and {what} have the same index in different orders; put them into one, or give "
                ".to_numpy() where their positions are meant"
            )


def _stripped(names: list[str]) -> list[str]:
    """Names of classes from names of columns, as the command takes them."""
    for prefix in ("prob_", "proba_", "p_"):
        if all(name.startswith(prefix) and name != prefix for name in names):
            return [name[len(prefix) :] for name in names]
    return names


def rows_of_table(
    table: Table,
    *,
    label: Optional[str] = None,
    id_column: Optional[str] = None,
    probs: Optional[Sequence[str]] = None,
    positive: Optional[str] = None,
    classes: Optional[Iterable[object]] = None,
    groups: Any = None,
    name: str = "rows",
) -> Given:
    """The rows of a table whose columns are found as the command finds those of a file."""
    wanted = None if probs is None else list(probs)
    at, entity, cells, found = columns(table.names, label, id_column, wanted, positive)
    if isinstance(groups, str):
        groups = [groups]
    if isinstance(groups, (list, tuple)) and all(isinstance(g, str) for g in groups):
        missing = [g for g in groups if g not in table.names]
        if missing:
            raise SettingError(f"groups: there is no column {missing[0]}", field="groups")
        groups = {g: table.cells[table.names.index(g)] for g in groups}
    y = None if at is None else table.cells[at]
    if positive is not None:
        # All other labels count against it.
        codes, values = coded(y)
        said = [str(value) == positive for value in values]
        y = [None if code < 0 else (positive if said[code] else f"not {positive}") for code in codes]
        classes = [f"not {positive}", positive]
    return rows_of(
        y,
        {str(j): table.cells[j] for j in cells},
        classes=found if classes is None and len(cells) > 1 else classes,
        ids=None if entity is None else table.cells[entity],
        groups=groups,
        name=name,
    )


def whole(name: str, value: Any, least: int, most: int) -> int:
    """A setting that is a whole number."""
    try:
        number = operator.index(value)
    except TypeError:
        raise SettingError(f"{name}: {value!r} is not a whole number", field=name) from None
    if not least <= number <= most:
        raise SettingError(f"{name}: {number} is not between {least} and {most}", field=name)
    return number


def real(name: str, value: Any) -> float:
    """A setting that is a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"{name}: {value!r} is not a number", field=name) from None


def reals(name: str, values: Any) -> list[float]:
    """A setting that is a list of numbers."""
    try:
        each = list(values)
    except TypeError:
        raise SettingError(f"{name}: {values!r} is not a list of numbers", field=name) from None
    return [real(name, value) for value in each]


def text(name: str, value: Any) -> str:
    """A setting that is a text."""
    if not isinstance(value, str):
        raise SettingError(f"{name}: {value!r} is not a text", field=name)
    return value


def names_of(classes: Optional[Iterable[object]]) -> Optional[list[str]]:
    """Names of classes."""
    if classes is None:
        return None
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise SettingError(f"classes: {classes!r} is not a list of names", field="classes")
    return [str(name) for name in classes]


#: What a whole number of the library holds.
MOST = 2**63 - 1


def is_path(value: Any) -> bool:
    """Whether a value names a file."""
    return isinstance(value, (str, os.PathLike))
