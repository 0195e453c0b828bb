"""Sum-product networks: built, then asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from ._lpf import Builder, Network
from ._rows import real, reals, whole

#: What is known: for a variable its state, or a likelihood of each state.
Evidence = Mapping[int, Union[int, Sequence[float]]]


class Explanation(NamedTuple):
    """An assignment, and how far from the best it can be."""

    #: The state of each variable.
    assignment: list[int]
    #: The logarithm of its value, not divided by that of all assignments.
    log_value: float
    #: No assignment has a larger one.
    log_bound: float
    #: Whether it is a best one.
    exact: bool


class SpnBuilder:
    """Nodes, children first; each method gives the number of the new node.

    >>> import lpf
    >>> b = lpf.SpnBuilder([2, 2])          # the sky: clear, cloudy; the ground: dry, wet
    >>> fine = b.product([b.leaf(0, [0.9, 0.1]), b.leaf(1, [0.8, 0.2])])
    >>> rainy = b.product([b.leaf(0, [0.2, 0.8]), b.leaf(1, [0.3, 0.7])])
    >>> spn = b.build(b.sum([(fine, 0.6), (rainy, 0.4)]))
    >>> [round(x, 3) for x in spn.marginals({1: 1})[0]]      # the sky, given that the ground is wet
    [0.41, 0.59]
    """

    def __init__(self, cardinalities: Sequence[int]) -> None:
        self._builder = Builder([_count("cardinalities", n) for n in cardinalities])

    def leaf(self, variable: int, values: Sequence[float]) -> int:
        """A distribution over the states of one variable, not necessarily normalized."""
        return self._builder.leaf(_count("variable", variable), reals("values", values))

    def indicator(self, variable: int, state: int) -> int:
        """One for this state, zero for all others."""
        return self._builder.indicator(_count("variable", variable), _count("state", state))

    def sum(self, children: Sequence[tuple[int, float]]) -> int:
        """A weighted sum of nodes over the same variables."""
        return self._builder.sum([(_count("child", i), real("weight", w)) for i, w in children])

    def product(self, children: Sequence[int]) -> int:
        """A product of nodes over different variables."""
        return self._builder.product([_count("child", i) for i in children])

    def build(self, root: int) -> Spn:
        """The network below a node; one that is not complete and decomposable is an error."""
        return Spn(self._builder.build(_count("root", root)))


class Spn:
    """A valid sum-product network: every answer is exact up to a stated rounding."""

    def __init__(self, network: Network) -> None:
        self._network = network

    @staticmethod
    def builder(cardinalities: Sequence[int]) -> SpnBuilder:
        """Begins a network over variables with so many states each."""
        return SpnBuilder(cardinalities)

    @property
    def cardinalities(self) -> list[int]:
        """How many states each variable has."""
        return self._network.cardinalities

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self._network.nodes

    def log_probability(self, evidence: Optional[Evidence] = None) -> float:
        r""":math:`\ln P(e)`; minus infinity where the evidence is impossible."""
        return self._network.log_probability(_known(evidence))

    def marginals(self, evidence: Optional[Evidence] = None) -> list[list[float]]:
        r""":math:`P(X_v = x \mid e)` for each variable and state."""
        return self._network.marginals(_known(evidence))

    def most_probable(self, evidence: Optional[Evidence] = None, passes: int = 1000) -> Explanation:
        """The best assignment, by a search of at most so many passes; ``exact`` where it is proved best."""
        return Explanation(*self._network.most_probable(_known(evidence), _count("passes", passes)))

    def sample(
        self, n: int, evidence: Optional[Evidence] = None, seed: int = 0
    ) -> npt.NDArray[np.int64]:
        """Assignments drawn given the evidence, one a row; the same for the same seed."""
        return self._network.sample(_known(evidence), _count("n", n), whole("seed", seed, 0, 2**64 - 1))


def _count(name: str, value: object) -> int:
    """A number of a node, a variable or a state, or how many of something."""
    return whole(name, value, 0, 2**48)


def _known(evidence: Optional[Evidence]) -> dict[int, Union[int, list[float]]]:
    return {
        _count("variable", v): (
            _count("state", said) if isinstance(said, (int, np.integer)) else reals("likelihood", said)
        )
        for v, said in (evidence or {}).items()
    }
