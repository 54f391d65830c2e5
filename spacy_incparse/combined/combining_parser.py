"""What parsers have in common that answer with the tree of the highest expected F by several opinions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from spacy_incparse.combined.combination import Combination
from spacy_incparse.parsers.base import BaseParser
from spacy_incparse.parsers.constraints import Constraints
from spacy_incparse.parsers.parse import Parse, Tags
from spacy_incparse.parsers.posterior import Posterior
from spacy_incparse.parsers.pushed_words import check_n_analyses
from spacy_incparse.parsers.tree_scores import TreeScore
from spacy_incparse.trees.tree import Tree


class CombiningParser(BaseParser):
    """Parsers whose probabilities of phrases are averaged.

    Scores are expected gains: the sum of the probabilities of a tree's phrases, minus the threshold for each.
    """

    @property
    def has_posterior(self) -> bool:
        """True: it averages the probabilities of its members."""
        return True

    @abstractmethod
    def _combination(self, words: Sequence[str], tags: Tags | None, constraints: Constraints = ()) -> Combination:
        """Return what the members say of a sentence; that of the last one is kept, for its other trees."""

    def parse(self, words: Sequence[str], tags: Tags, constraints: Constraints = ()) -> Parse:
        """Return the tree of the highest expected gain, recombined from the phrases of all members.

        constraints: required and forbidden phrases (`parsers.constraints.Constraint`). Those that the members' searches
        cannot meet together with those before them are left out and listed in `unmet`. Raises ValueError if there are
        no words, or not as many tags as words, and ConfigError for constraints on other words.
        """
        return self._combination(words, tags, constraints).best()

    def nbest(self, words: Sequence[str], tags: Tags, k: int, constraints: Constraints = ()) -> list[Parse]:
        """Return up to k trees: that of `parse`, then those of the members' lists by descending gain.

        Raises ValueError if k is below 1.
        """
        check_n_analyses(k)
        combination = self._combination(words, tags, constraints)
        return [combination.best()] if k == 1 else combination.nbest()[:k]

    def posterior(
        self, words: Sequence[str], tags: Tags, constraints: Constraints = (), temperature: float | None = None
    ) -> Posterior | None:
        """Return the averaged probabilities of phrases, and those of trees among the n-best; None without temperature.

        temperature: of the expected gains; by default, that of the parser.
        """
        temperature = temperature or self.temperature
        return None if temperature is None else self._combination(words, tags, constraints).posterior(temperature)

    def score(self, words: Sequence[str], tags: Tags | None, tree: Tree) -> TreeScore:
        """Return the expected gain of a normalized tree of the sentence; there is no derivation.

        tags: those that the sentence would be parsed under; None: the tree's own. Raises ValueError if the tree has
        other words.
        """
        if tuple(words) != tree.words:
            raise ValueError(f"the tree has other words than the sentence: {tree.words[:8]} and {tuple(words)[:8]}")
        return TreeScore(tree, self._combination(words, tree.tags if tags is None else tags).gain(tree), ())
