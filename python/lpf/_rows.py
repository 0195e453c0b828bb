"""Whatever holds predictions, as columns that the library reads where they lie."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from ._errors import RecordError, SettingError
from ._lpf import Rows, columns

#: What stands for a label or a group that is missing.
_MISSING = np.iinfo(np.int64).min

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


def numbers(column: Any) -> npt.NDArray[Any]:
    """Floating-point numbers as they are, in double, single or half precision; anything else in double."""
    array = _plain(column)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and array.dtype.isnative:
        return array
    if array.dtype == object and array.ndim == 1 and len(array) and np.ndim(array[0]) == 1:
        array = np.stack([np.asarray(row, dtype=np.float64) for row in array])
    if array.dtype.kind == "c":
        raise RecordError("probabilities: Complex data not supported")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise RecordError(f"probabilities: {error}") from None


def coded(column: Any) -> tuple[npt.NDArray[np.int64], list[object]]:
    """Codes of the values of a column, in the order of their first appearance; nothing has no code."""
    dtype: Any = getattr(column, "dtype", None)
    if hasattr(column, "cat") and hasattr(dtype, "categories") and hasattr(column.cat, "codes"):
        codes = np.asarray(column.cat.codes).astype(np.int64)
        codes[codes < 0] = _MISSING
        return codes, list(dtype.categories)
    array = _plain(column)
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
    found = [
        _MISSING if value is None or value != value else table.setdefault(value, len(table))
        for value in array.tolist()
    ]
    return np.array(found, dtype=np.int64), list(table)


def _labels(
    y: Any, classes: Optional[list[str]]
) -> tuple[npt.NDArray[np.int64], Optional[list[str]]]:
    """True classes: positions, or codes of names. A number is a name where a class is called so."""
    array = y if hasattr(y, "cat") else _plain(y)
    if getattr(array, "ndim", 1) != 1:
        raise RecordError(f"labels of {array.ndim} dimensions; one label for each row is needed")
    dtype = getattr(array, "dtype", None)
    if classes is None and isinstance(dtype, np.dtype) and dtype.kind in "iub":
        return np.asarray(array, dtype=np.int64), None
    codes, values = coded(array)
    known = set(classes or ())
    whole = all(isinstance(value, (int, np.integer, bool)) for value in values)
    if whole and not any(str(value) in known for value in values):
        positions = np.array([int(value) for value in values], dtype=np.int64)  # type: ignore[call-overload]
        out = np.full(len(codes), _MISSING, dtype=np.int64)
        there = codes != _MISSING
        out[there] = positions[codes[there]]
        return out, None
    return codes, [str(value) for value in values]


def _texts(column: Any) -> list[Optional[str]]:
    """Names of entities."""
    array = _plain(column)
    return [None if v is None or v != v else str(v) for v in array.tolist()]


def fields_of(groups: Any, count: int) -> list[tuple[str, tuple[npt.NDArray[np.int64], list[str]]]]:
    """Groups as named columns of codes: a column called ``group``, or the columns of a table."""
    if groups is None:
        return []
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
    names = None if classes is None else [str(c) for c in classes]
    table = table_of(p)
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
    rows = Rows(name, cells, labels, names, entities, fields)
    return Given(rows, names, [name for name, _ in fields])


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


def is_path(value: Any) -> bool:
    """Whether a value names a file."""
    return isinstance(value, (str, os.PathLike))


