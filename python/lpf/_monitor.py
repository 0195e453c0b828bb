"""Predictions watched as their outcomes arrive."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from ._errors import RecordError, SettingError
from ._files import read, write
from ._lpf import Monitor as _Monitor
from ._rows import names_of, real, rows_of, whole


@dataclass(frozen=True)
class Alarm:
    """Evidence has crossed its threshold."""

    #: After how many rows in all.
    row: int
    #: Of which predictions: ``all``, ``class`` or ``group``, and its name.
    part: str
    name: Optional[str]
    #: ``over-confident`` or ``under-confident``.
    direction: str
    log_evidence: float
    log_threshold: float
    mean_confidence: float
    sentence: str


class Monitor:
    r"""Watches predictions, with an error rate that holds at any time.

    Against "the predicted class is right as often as said, within ``margin``" it keeps a wealth that is a
    non-negative supermartingale under that hypothesis; an alarm is raised where it reaches
    :math:`1/\alpha` (Ville's inequality), so that with probability at least :math:`1 - \alpha` none is ever
    raised on predictions that keep within the margin, however long they are watched and whenever one looks.

    Parameters
    ----------
    classes
        Their names, or how many there are.
    alpha, margin
        The probability of any false alarm, and how far hit rates may be from confidences.
    by_class, by
        Whether each class, and each group of a field of this name, is watched by itself too.

    Examples
    --------
    >>> import lpf
    >>> monitor = lpf.Monitor(2)
    >>> alarms = monitor.update([0, 1] * 20, [[0.9, 0.1]] * 40)     # sure to 90 %, right every other time
    >>> alarms[0].direction, alarms[0].row < 20
    ('over-confident', True)
    """

    def __init__(
        self,
        classes: Union[int, Iterable[object]],
        *,
        alpha: float = 0.05,
        margin: float = 0.02,
        by_class: bool = False,
        by: Optional[str] = None,
        _state: Optional[str] = None,
    ) -> None:
        counted = isinstance(classes, (int, np.integer))
        self._named = None if counted else names_of(classes)  # type: ignore[arg-type]
        many = whole("classes", classes, 1, 2**16) if counted else 0
        names = [str(i) for i in range(many)] if counted else self._named
        self._classes = len(names or [])
        self._by = by
        settings = (names or [], real("alpha", alpha), real("margin", margin), bool(by_class), by)
        self._monitor = _Monitor(*settings) if _state is None else _Monitor.of_json(_state, *settings)
        self.alarms: list[Alarm] = []

    def update(
        self, y: Any, p: Any, *, groups: Any = None, tolerance: Optional[float] = None
    ) -> list[Alarm]:
        """Adds rows in their order, and gives the alarms that they raise; each is raised once."""
        if (self._by is None) != (groups is None):
            raise SettingError("groups: give them where the monitor has `by`, and only there", field="groups")
        named = None if groups is None else {str(self._by): groups}
        given = rows_of(y, p, classes=self._named, groups=named)
        if given.rows.classes != self._classes:
            raise RecordError(f"{given.rows.classes} numbers, but there are {self._classes} classes")
        raised = [Alarm(**a) for a in self._monitor.update(given.rows, self._by, tolerance)]
        self.alarms.extend(raised)
        return raised

    @property
    def rows(self) -> int:
        """How many rows were seen."""
        return self._monitor.rows

    @property
    def has_alarm(self) -> bool:
        """Whether any alarm was raised, before it was saved too."""
        return self._monitor.has_alarm

    @property
    def watches(self) -> list[dict[str, Any]]:
        """What is watched, and how much evidence there is, as logarithms."""
        return self._monitor.watches()

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the state that ``lpf monitor --state`` keeps."""
        write(path, self._monitor.to_json())

    @classmethod
    def load(
        cls, path: Union[str, os.PathLike[str]], classes: Union[int, Iterable[object]], **settings: Any
    ) -> Monitor:
        """Watches on from a saved state, with the same settings."""
        return cls(classes, _state=read(path).decode("utf-8", "replace"), **settings)

    def to_html(self) -> str:
        """A page with a plot of the evidence."""
        return self._monitor.to_html()

    def to_text(self) -> str:
        """What ``lpf monitor`` prints at the end."""
        return self._monitor.to_text()

    def __repr__(self) -> str:
        said = "an alarm" if self.has_alarm else "no alarm"
        return f"<Monitor: {self.rows} rows, {said}>"


def monitor(
    y: Any,
    p: Any,
    *,
    classes: Optional[Iterable[object]] = None,
    groups: Any = None,
    alpha: float = 0.05,
    margin: float = 0.02,
    by_class: bool = False,
    tolerance: Optional[float] = None,
) -> Monitor:
    """A :class:`Monitor` that has seen these rows, in their order."""
    given = rows_of(None, p, classes=classes)
    out = Monitor(
        given.rows.classes if given.classes is None else given.classes,
        alpha=alpha,
        margin=margin,
        by_class=by_class,
        by=None if groups is None else "group",
    )
    out.update(y, p, groups=groups, tolerance=tolerance)
    return out
