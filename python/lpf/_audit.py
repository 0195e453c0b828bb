"""A log of predictions in, a judgement out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Optional, Union

import numpy as np

from ._errors import AuditError, AuditFailed, RecordError, SettingError
from ._files import read
from ._lpf import MAX_BINS, Report
from ._lpf import audit as _audit
from ._rows import (
    MOST,
    coded,
    fields_of,
    is_path,
    names_of,
    numbers,
    real,
    reals,
    rows_of,
    rows_of_table,
    table_of,
    text,
    whole,
)


@dataclass(frozen=True)
class Check:
    """One property of the log, with its verdict.

    The verdict rests on the interval, never on the value alone: ``pass`` where all of it is on the good
    side of the limit, ``fail`` where all of it is on the bad side, and else ``undecided``; ``information``
    where there is no limit, ``not_run`` where the log lacks what the check needs.
    """

    id: str
    title: str
    #: The quantity of the population that the value estimates.
    estimand: str
    value: Optional[float]
    #: Lower and upper end, at the level ``confidence``.
    interval: Optional[tuple[float, float]]
    confidence: Optional[float]
    interval_method: Optional[str]
    #: How many rows (or items, where the sentence says so).
    n: int
    #: Which side is good (``at most``, ``at least``, ``within``), and the limit.
    limit: Optional[tuple[str, float]]
    verdict: str
    #: How many rows would decide, where the verdict is ``undecided`` and the log tells.
    needed_n: Optional[int]
    #: What is missing, where the check was not run.
    reason: Optional[str]
    #: Whether it makes the audit fail.
    stops: bool
    #: The finding in one plain sentence.
    sentence: str
    #: What to do about a failure, or to decide: a command or a step.
    next: Optional[str]


@dataclass(frozen=True)
class Slice:
    """The rows with one value of a field, or of a pair of fields."""

    #: The field, or both fields of a pair, and their values.
    by: list[str]
    values: list[str]
    n: int
    #: Whether there are too few rows to judge it.
    too_small: bool
    #: The checks of calibration and scores; their intervals hold together over all slices.
    checks: Mapping[str, Check]

    @property
    def fails(self) -> bool:
        """Whether a check of it fails."""
        return any(check.verdict == "fail" for check in self.checks.values())


@dataclass(frozen=True)
class Source:
    """The items of evidence with one id, each taken as a prediction."""

    id: str
    items: int
    rows: int
    #: Mean weight of an item.
    weight: float
    #: ``hurts``, ``mixed``, ``unclear`` or ``helps``.
    effect: str
    #: What leaving it out gains in accuracy, and saves in log loss; none where that is not known.
    accuracy_without: Optional[float]
    log_loss_without: Optional[float]
    sentence: str
    checks: Mapping[str, Check]


def _by_id(found: Iterable[Mapping[str, Any]]) -> dict[str, Check]:
    return {check["id"]: Check(**check) for check in found}


class Audit:
    """The result of :func:`audit`.

    ``passed`` is whether no check fails (nor is undecided, where ``undecided="fail"`` was asked for).
    """

    def __init__(self, report: Report, settings: Mapping[str, Any]) -> None:
        self._report = report
        self._settings = dict(settings)
        self._checks = _by_id(report.checks())

    @property
    def passed(self) -> bool:
        """Whether the command would end with exit code 0."""
        return self._report.passed

    @property
    def checks(self) -> Mapping[str, Check]:
        """The checks by their names, in the order of the report."""
        return dict(self._checks)

    @property
    def failures(self) -> list[Check]:
        """The checks that make the audit fail, of slices too."""
        of_slices = (check for one in self.slices for check in one.checks.values())
        return self._failed() + [check for check in of_slices if check.stops]

    @property
    def slices(self) -> list[Slice]:
        """What was found in each group, worst first; empty without ``groups``."""
        found = self._report.slices()
        return [Slice(**{**one, "checks": _by_id(one["checks"])}) for one in found]

    @property
    def sources(self) -> list[Source]:
        """What was found of each source of evidence, the one that hurts most first; empty unless
        ``by="evidence.id"`` was asked for."""
        found = self._report.sources()
        return [Source(**{**one, "checks": _by_id(one["checks"])}) for one in found]

    def to_json(self) -> str:
        """The report of ``lpf audit --format json``."""
        return self._report.rendered("json")

    def to_html(self) -> str:
        """A page that stands for itself, with its plots."""
        return self._report.rendered("html")

    def to_text(self) -> str:
        """The report as the command prints it."""
        return self._report.rendered("text")

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        return self._report.rendered("markdown")

    def to_junit(self) -> str:
        """JUnit's XML, for continuous integration."""
        return self._report.rendered("junit")

    def to_sarif(self) -> str:
        """SARIF, for code scanning."""
        return self._report.rendered("sarif")

    def raise_for_failure(self) -> Audit:
        """Raises :class:`AuditFailed` with the sentences of all failures; else the audit itself."""
        if self.passed:
            return self
        said = [f"{check.title} ({check.id}): {check.sentence}" for check in self._failed()]
        for one in self.slices:
            where = ", ".join(f"{by} {value}" for by, value in zip(one.by, one.values))
            said.extend(f"{where}: {c.title} ({c.id}): {c.sentence}" for c in one.checks.values() if c.stops)
        raise AuditFailed("the audit failed: " + " ".join(said))

    def _failed(self) -> list[Check]:
        return [check for check in self._checks.values() if check.stops]

    def state(self) -> bytes:
        """All that is needed to merge this audit with others: what ``lpf audit --partial`` writes."""
        return self._report.state()

    @classmethod
    def from_state(cls, state: bytes, **settings: Any) -> Audit:
        """The audit of a state; ``settings`` are those of :func:`audit` that judge (``limits``, …)."""
        asked = _settings(**settings)
        return cls(Report.of_state(state, asked), asked)

    def merge(self, *others: Audit) -> Audit:
        """The audit of all rows together, as if they had been one log, in any order, byte for byte."""
        for other in others:
            if not isinstance(other, Audit):
                raise TypeError(f"{type(other).__name__} is no Audit; audits merge with audits")
        reports: list[Any] = [self._report]
        reports.extend(other._report for other in others)
        return Audit(_audit(reports, [], self._settings), self._settings)

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for check in self._checks.values():
            counts[check.verdict] = counts.get(check.verdict, 0) + 1
        said = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in counts.items())
        return f"<Audit {'passed' if self.passed else 'failed'}: {said}>"

    def _repr_html_(self) -> str:
        """The figure, then the checks with a limit: what a notebook shows."""
        page = self.to_html()
        style = "".join(re.findall(r"<style>.*?</style>", page, re.S))
        # The first holds the reliability diagram; others are of single classes.
        figure = "".join(re.findall(r"<figure.*?</figure>", page, re.S)[:1])
        colours = {"pass": "#1a7f37", "fail": "#b42318", "undecided": "#9a6700"}
        lines = []
        order = {"fail": 0, "undecided": 1, "pass": 2}
        judged = [c for c in self._checks.values() if c.verdict in order]
        for check in sorted(judged, key=lambda c: order[c.verdict]):
            value = "" if check.value is None else f"{check.value:.4g}"
            ends = "" if check.interval is None else "{:.4g} to {:.4g}".format(*check.interval)
            limit = "" if check.limit is None else "{} {:.4g}".format(*check.limit)
            lines.append(
                f'<tr><td style="color:{colours[check.verdict]};font-weight:600">{check.verdict}</td>'
                f"<td>{escape(check.title)}</td><td>{value}</td><td>{ends}</td><td>{limit}</td>"
                f'<td style="text-align:left">{escape(check.sentence)}</td></tr>'
            )
        head = "".join(f"<th>{w}</th>" for w in ("verdict", "check", "value", "interval", "limit", ""))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        # The page's own rules stay inside: a frame of its own, as tall as what it holds.
        inner = f"<!doctype html><meta charset=utf-8>{style}<body>{figure}{table}</body>"
        return (
            f"<p><strong>{escape(repr(self)[1:-1])}</strong></p>"
            f'<iframe srcdoc="{escape(inner)}" style="width:100%;border:0" height="640" '
            'onload="this.height=this.contentDocument.documentElement.scrollHeight"></iframe>'
        )


_METHODS = ("reference", "reciprocal", "exponential", "precision")


def _settings(
    *,
    limits: Optional[Mapping[str, Optional[float]]] = None,
    bins: Optional[int] = None,
    by: Union[str, Sequence[str], None] = None,
    segments: bool = False,
    tolerance: Optional[float] = None,
    prior: Optional[Sequence[float]] = None,
    undecided: str = "allow",
    strict: bool = False,
    independent_rows: bool = False,
    seed: int = 0,
    method: Optional[str] = "spn",
    confidence: Optional[str] = "reference",
    model: Optional[Union[str, os.PathLike[str]]] = None,
    aggregator: Optional[Union[str, os.PathLike[str]]] = None,
    samples: int = 16,
    calibration: Any = None,
    answer_from_evidence: bool = False,
    label: Optional[str] = None,
    id_column: Optional[str] = None,
    probs: Union[str, Sequence[str], None] = None,
    positive: Optional[object] = None,
    threads: Optional[int] = None,
    **unknown: Any,
) -> dict[str, Any]:
    """What the native half asks for."""
    for name in unknown:
        raise TypeError(f"there is no setting {name!r} of an audit; help(lpf.audit) names them")
    if undecided not in ("allow", "fail"):
        raise SettingError(f"undecided: {undecided!r} is neither allow nor fail", field="undecided")
    if confidence is not None and confidence not in _METHODS:
        raise SettingError(
            f"confidence: {confidence!r} is none of {', '.join(_METHODS)}", field="confidence"
        )
    if limits is not None and not isinstance(limits, Mapping):
        raise SettingError("limits: a mapping of checks to numbers is needed", field="limits")
    return {
        "classes": None,
        "bins": None if bins is None else whole("bins", bins, 1, MAX_BINS),
        "by": [by] if isinstance(by, str) else list(by or ()),
        "segments": segments,
        "tolerance": None if tolerance is None else real("tolerance", tolerance),
        "prior": None if prior is None else reals("prior", prior),
        "limits": [
            (text("limits", k), None if v is None else real(f"limits: {k}", v))
            for k, v in (limits or {}).items()
        ],
        "undecided_fails": undecided == "fail",
        "strict": strict,
        "independent_rows": independent_rows,
        "seed": whole("seed", seed, 0, 2**64 - 1),
        "method": None if method is None else text("method", method),
        "confidence": confidence,
        "model": None if model is None else os.fspath(model),
        "aggregator": None if aggregator is None else os.fspath(aggregator),
        "samples": whole("samples", samples, 1, 2**32 - 1),
        "calibration": _map_of(calibration),
        "answer_from_evidence": answer_from_evidence,
        "label": None if label is None else text("label", label),
        "id_column": None if id_column is None else text("id_column", id_column),
        "probs": [probs] if isinstance(probs, str) else None if probs is None else list(probs),
        "positive": None if positive is None else str(positive),
        "threads": None if threads is None else whole("threads", threads, 1, MOST),
    }


def _map_of(calibration: Any) -> Optional[str]:
    """The content of a calibration file: of a fitted calibrator, or of a path."""
    if calibration is None:
        return None
    if hasattr(calibration, "to_json"):
        return str(calibration.to_json())
    if not is_path(calibration):
        raise SettingError("calibration: a fitted map or a path is needed", field="calibration")
    try:
        return read(calibration).decode()
    except UnicodeDecodeError:
        raise SettingError("calibration: not a calibration map", field="calibration") from None


def audit(
    y: Any,
    p: Any = None,
    *,
    classes: Optional[Iterable[object]] = None,
    groups: Any = None,
    weights: Any = None,
    evidence: Any = None,
    limits: Optional[Mapping[str, Optional[float]]] = None,
    baseline: Any = None,
    ids: Any = None,
    name: str = "rows",
    tolerance: Optional[float] = None,
    **settings: Any,
) -> Audit:
    r"""Checks which guarantees hold for a log of predictions with their outcomes.

    Parameters
    ----------
    y
        The true classes, one a row: positions, or names of ``classes``. Or, without ``p``, a whole log: the
        path of a file (a list of paths for its parts), or a table with a column of labels, columns of
        probabilities, and perhaps one of names (``label``, ``probs`` and ``id_column`` say which).
    p
        The probabilities: one column for each class, or one dimension for the probability of class 1. NumPy
        arrays, DataFrames and Arrow tables are read where they lie; single and half precision are widened
        exactly. The columns of a table name the classes.
    classes
        Names of the classes, in the order of the columns.
    groups
        A column, or a table of columns, by which results are also given: see :attr:`Audit.slices`. With a
        table or a path for ``y``, names of its columns. Intervals then hold together over all slices.
    weights
        Weights of rows are not supported: anything but None is an error.
    evidence
        For each row its items: an array (rows, items, classes) of factors, or a list with a list for each
        row, whose items are factors or dictionaries as in a line of a log (``factor``, ``weight``, ``id``,
        ``mu`` with ``sigma``, ``embedding``). The answer is then compared with what ``method`` makes of
        them.
    limits
        The limit of a check by its name, such as ``{"ece": 0.03}``; None takes a default limit away.
    baseline
        An earlier log to compare with: ``(y, p)``, a table, a path, or an :class:`Audit`.
    ids
        Names of entities; rows with the same name count as one cluster.
    name
        What reports call rows in memory: the path of a file that holds them, where there is one, so that
        the commands of a report name it [default: "rows", which is no file].
    tolerance
        How far the probabilities of a row may be from adding up to one [default: 10\ :sup:`-6`, or as far
        as the digits of a row explain, or half precision, where the columns are in that].
    **settings
        ``bins`` (15), ``by`` (how groups are cut: ``"site"``, ``"month(at)"``, ``"evidence.id"`` for sources
        of evidence [default: by each column of ``groups``]), ``segments`` (pairs of groups too), ``prior``, ``undecided`` (``"allow"`` or ``"fail"``), ``strict``,
        ``independent_rows``, ``seed``, ``method``, ``confidence``, ``model``, ``aggregator``, ``samples``,
        ``calibration`` (a fitted :class:`Calibrator`, or a path), ``answer_from_evidence``, ``label``,
        ``id_column``, ``probs``, ``positive``, ``threads``: as the options of ``lpf audit``.

    Returns
    -------
    Audit
        Values, intervals at a joint confidence of 95 %, and verdicts.

    Examples
    --------
    >>> import lpf
    >>> report = lpf.audit([1, 0, 1], [[0.2, 0.8], [0.7, 0.3], [0.4, 0.6]])
    >>> report.checks["accuracy"].value
    1.0
    >>> report.checks["gap"].verdict, report.passed    # three rows are no evidence against the model
    ('undecided', True)
    >>> lpf.audit([1], [[0.5, 0.4]]).raise_for_failure()    # not a distribution
    Traceback (most recent call last):
        ...
    lpf._errors.AuditFailed: the audit failed: Invalid probability rows (validity): ...
    """
    if weights is not None:
        raise SettingError(
            "weights: weights of rows are not supported: the intervals of all checks count rows, each as one "
            "observation; where a row stands for several, repeat it under one of ids, and the copies count as one "
            "cluster",
            field="weights",
        )
    asked = _settings(limits=limits, tolerance=tolerance, **settings)
    names = names_of(classes)
    wanted = _Wanted(names, groups, ids, text("name", name), asked)
    inputs = wanted.inputs(y, p, evidence)
    asked["classes"] = names
    if not asked["by"]:
        asked["by"] = wanted.by
    before: list[Any] = []
    if isinstance(baseline, Audit):
        before = [baseline._report]
    elif isinstance(baseline, tuple) and len(baseline) == 2:
        before = wanted.elsewhere().inputs(baseline[0], baseline[1], None)
    elif baseline is not None:
        before = wanted.elsewhere().inputs(baseline, None, None)
    return Audit(_audit(inputs, before, asked), asked)


class _Wanted:
    """How a log is to be read."""

    def __init__(
        self, classes: Optional[list[str]], groups: Any, ids: Any, name: str, asked: dict[str, Any]
    ) -> None:
        self.classes = classes
        self.groups = groups
        self.ids = ids
        self.name = name
        self.asked = asked
        #: The names of the groups, once the log has been looked at.
        self.by: list[str] = []

    def elsewhere(self) -> _Wanted:
        """The same for another log, whose rows have no such groups and names."""
        return _Wanted(self.classes, None, None, "baseline", self.asked)

    def inputs(self, y: Any, p: Any, evidence: Any) -> list[Any]:
        """The parts of a log."""
        if p is not None:
            if y is None:
                raise RecordError("there are no labels: y is None")
            if evidence is not None:
                return [self.lines(y, p, evidence)]
            given = rows_of(
                y, p, classes=self.classes, ids=self.ids, groups=self.groups, name=self.name
            )
            self.by = given.fields
            return [given.rows]
        if evidence is not None:
            return [self.lines(y, None, evidence)]
        if is_path(y):
            self.by = _names(self.groups)
            return [os.fspath(y)]
        if isinstance(y, Audit):
            return [y._report]
        table = table_of(y)
        if table is not None:
            given = rows_of_table(
                table,
                label=self.asked["label"],
                id_column=self.asked["id_column"],
                probs=self.asked["probs"],
                positive=self.asked["positive"],
                classes=self.classes,
                groups=self.groups,
                name=self.name,
            )
            self.by = given.fields
            return [given.rows]
        if isinstance(y, (list, tuple)) and y and all(is_path(part) for part in y):
            self.by = _names(self.groups)
            return [os.fspath(part) for part in y]
        raise AuditError(
            "labels without probabilities; give y and p, a table that holds both, or the path of a log"
        )

    def lines(self, y: Any, p: Any, evidence: Any) -> tuple[str, bytes]:
        """Rows with evidence as JSON lines: they are sampled by their text."""
        codes, values = coded(y)
        labels = [values[c] if c >= 0 else None for c in codes.tolist()]
        if self.classes is not None:
            known = set(self.classes)
            labels = [str(v) if v is not None and str(v) in known else v for v in labels]
        out = []
        answers = [None] * len(labels) if p is None else _lists(p)
        items = _items(evidence)
        names = [None] * len(labels) if self.ids is None else [str(i) for i in list(self.ids)]
        if not len(labels) == len(answers) == len(items) == len(names):
            raise AuditError(
                f"{len(labels)} labels, {len(answers)} rows of probabilities, {len(items)} of evidence"
            )
        fields = fields_of(self.groups, len(labels))
        self.by = [name for name, _ in fields]
        for i, (label, answer, item, entity) in enumerate(zip(labels, answers, items, names)):
            row: dict[str, Any] = {n: texts[c[i]] for n, (c, texts) in fields if c[i] >= 0}
            if entity is not None:
                row["entity"] = entity
            row["label"] = label
            if answer is not None:
                row["probs"] = answer
            row["evidence"] = item
            out.append(json.dumps(row, default=_jsonable))
        return self.name, ("\n".join(out) + "\n").encode()


def _names(groups: Any) -> list[str]:
    """Names of fields of a file."""
    if groups is None:
        return []
    if isinstance(groups, str):
        return [groups]
    if isinstance(groups, (list, tuple)) and all(isinstance(name, str) for name in groups):
        return list(groups)
    raise SettingError("groups: names of fields are needed for a file", field="groups")


def _lists(p: Any) -> list[Any]:
    """Rows of probabilities as lists, with None for NaN."""
    table = table_of(p)
    if table is None:
        array = numbers(p).astype(np.float64)
    else:
        array = np.column_stack([numbers(c).astype(np.float64) for c in table.cells])
    if array.ndim == 1:
        array = np.column_stack([1.0 - array, array])
    return [[None if x != x else x for x in row] for row in array.tolist()]


def _items(evidence: Any) -> list[Any]:
    """The items of each row."""
    rows = evidence.tolist() if isinstance(evidence, np.ndarray) else evidence
    if not isinstance(rows, Iterable):
        raise RecordError(f"evidence: {type(evidence).__name__} holds no items; give a list for each row")
    rows = list(rows)
    for i, items in enumerate(rows):
        if not isinstance(items, Iterable) or isinstance(items, (str, bytes, Mapping)):
            raise RecordError(f"row {i + 1}: evidence: a list of items is needed", line=i + 1, field="evidence")
    return [[i if isinstance(i, Mapping) else {"factor": i} for i in items] for items in rows]


def _jsonable(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise RecordError(f"{type(value).__name__} is no part of a record")
