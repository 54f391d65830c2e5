"""Explicit features of edges, each with a number of its own: for models whose training must be exact.

An edge has the feature of its rule and those of at most one group, which many edges share, such as those of a span.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np


class FeatureNumbers:
    """Numbers of features, from `first` on in the order in which they come; none for new ones once it is closed."""

    def __init__(self, first: int = 0):
        self.is_open = True
        self._first = first
        self._numbers: dict[Hashable, int] = {}

    @classmethod
    def closed(cls, features: Iterable[Hashable], first: int = 0) -> FeatureNumbers:
        """Return the numbers of these features, and no room for others."""
        found = cls(first)
        found.of(features)
        found.is_open = False
        return found

    @property
    def features(self) -> Iterable[Hashable]:
        """The features from `first` on, by number."""
        return self._numbers.keys()

    def __len__(self) -> int:
        """Return the number of all features, with those before the first."""
        return self._first + len(self._numbers)

    def of(self, features: Iterable[Hashable]) -> list[int]:
        """Return the numbers of features, without those that have none."""
        numbers = self._numbers
        if self.is_open:
            return [numbers.setdefault(feature, len(self)) for feature in features]
        return [numbers[feature] for feature in features if feature in numbers]


@dataclass(frozen=True)
class SparseFeatures:
    """The features of a forest's edges.

    rules: for each edge its own feature, groups: its group; -1 for none. members: the group and the feature of each
    member of a group, int64 (2, n_members), by group.
    """

    rules: np.ndarray
    groups: np.ndarray
    members: np.ndarray

    @classmethod
    def of(cls, rules: np.ndarray, groups: np.ndarray, features: Sequence[Sequence[int]]) -> SparseFeatures:
        """Return the features of edges, those of each group in a list."""
        owners = np.repeat(np.arange(len(features)), [len(group) for group in features])
        flat = np.array([feature for group in features for feature in group], np.int64)
        return cls(rules, groups, np.stack([owners, flat]))

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Return the summed weights of each edge's features: float64 (n_edges,)."""
        owners, features = self.members
        n_groups = int(self.groups.max(initial=-1)) + 1
        of_groups = np.bincount(owners, weights[features], minlength=n_groups)
        found = np.where(self.rules >= 0, weights[self.rules], 0.0)
        if n_groups:
            found += np.where(self.groups >= 0, of_groups[self.groups], 0.0)
        return found

    def totals(self, edges: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of some edges and the summed value of each, where it is not 0.

        An edge of the value v adds v to each of its features. An edge may come several times.
        """
        owners, features = self.members
        has_rule, has_group = self.rules[edges] >= 0, self.groups[edges] >= 0
        of_groups = np.bincount(
            self.groups[edges][has_group], values[has_group], minlength=int(owners.max(initial=-1)) + 1
        )
        shares = of_groups[owners]
        all_features = np.concatenate([self.rules[edges][has_rule], features[shares != 0]])
        numbers, places = np.unique(all_features, return_inverse=True)
        sums = np.bincount(places, np.concatenate([values[has_rule], shares[shares != 0]]), minlength=len(numbers))
        return numbers[sums != 0], sums[sums != 0]
