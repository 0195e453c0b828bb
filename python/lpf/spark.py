"""Audits of Spark DataFrames: each partition makes a state, and the driver merges them.

The report is that of one audit over all rows, byte for byte but for the names of the inputs, whatever the
partitions. The executors need this package, NumPy and pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional

from ._audit import Audit, _settings
from ._audit import audit as _audit
from ._errors import AuditError


def audit(
    df: Any,
    *,
    label: Optional[str] = None,
    probs: Optional[Sequence[str]] = None,
    id_column: Optional[str] = None,
    classes: Optional[Iterable[object]] = None,
    name: str = "spark",
    **settings: Any,
) -> Audit:
    """Audits a Spark DataFrame with a column of labels and columns of probabilities.

    ``label``, ``probs`` and ``id_column`` say which columns these are, where they are not found by their
    names; ``settings`` are those of :func:`lpf.audit`. Nothing but a state of at most a few megabytes for
    each partition comes to the driver.
    """
    names = None if classes is None else [str(c) for c in classes]
    reading = {k: settings[k] for k in settings if k in ("bins", "tolerance", "calibration", "confidence")}
    if reading.get("calibration") is not None:
        # A fitted map goes along with the task.
        _settings(calibration=reading["calibration"])

    def states(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]
        from pyspark import TaskContext  # type: ignore[import-not-found,import-untyped,unused-ignore]

        context: Any = TaskContext.get()
        part = context.partitionId()
        whole: Optional[Audit] = None
        for i, batch in enumerate(batches):
            if batch.num_rows == 0:
                continue
            found = _audit(
                pa.Table.from_batches([batch]),
                label=label,
                probs=probs,
                id_column=id_column,
                classes=names,
                name=f"{name}[{part}.{i}]",
                **reading,
            )
            whole = found if whole is None else whole.merge(found)
        out = [] if whole is None else [whole.state()]
        yield pa.RecordBatch.from_arrays([pa.array(out, type=pa.binary())], names=["state"])

    found = [row["state"] for row in df.mapInArrow(states, "state binary").collect()]
    if not found:
        raise AuditError("there is no row")
    judged = [Audit.from_state(bytes(state), **settings) for state in found]
    return judged[0].merge(*judged[1:])
