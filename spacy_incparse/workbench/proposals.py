"""Trees that a parser, or none, proposes for the words of a sentence under all that a person has said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.labels import ROOT, UNKNOWN_TAG
from spacy_incparse.trees.tree import Tree
from spacy_incparse.workbench.edits import Forbidden, crosses, forced

N_ALTERNATIVES = 9


@dataclass(frozen=True)
class Wanted:
    """What a person has said of a sentence: its words, phrases that are right or wrong, and tags by word."""

    words: Sequence[str]
    required: Sequence[Phrase] = ()
    forbidden: Sequence[Forbidden] = ()
    tags: Mapping[int, str] = field(default_factory=dict)

    def met_by(self, tree: Tree) -> Tree:
        """Return a tree with everything that is wanted, and otherwise like the given one."""
        return forced(tree, self.required, self.forbidden, self.tags)


class Proposer:
    """What proposes trees; this one has no parser. Its trees branch to the right, and words keep the tags they had.

    tags, labels: those of the treebank to be, as a person gives them; the first are used. lang: as spaCy calls it.
    """

    name = "none"
    local_trees: frozenset[tuple[str, ...]] = frozenset()  # that training has seen

    def __init__(self, tags: Sequence[str] = (), labels: Sequence[str] = (), lang: str = "xx"):
        self.tags, self.labels, self._lang = list(tags) or [UNKNOWN_TAG], list(labels) or ["XP"], lang
        self._seen: dict[str, Counter[str]] = {}

    def learn(self, words: Sequence[str], tags: Sequence[str]) -> None:
        """Note the tags that a person has given."""
        for word, tag in zip(words, tags, strict=True):
            self._seen.setdefault(word.lower(), Counter())[tag] += 1

    def propose(self, wanted: Wanted, otherwise: Tree | None = None) -> Tree:
        """Return the best tree with everything that is wanted; `otherwise` if a parser's grammar has no such tree."""
        return self._branching(wanted, lambda i, start, end: (i, end) if end - i > 1 else None)

    def alternatives(self, wanted: Wanted) -> list[Tree]:
        """Return a few trees with everything that is wanted, best first."""
        left = self._branching(wanted, lambda i, start, end: (start, i + 1) if i < end - 1 else None)
        return list(dict.fromkeys([self.propose(wanted), left, self._branching(wanted, lambda *_: None)]))

    def confidences(self, wanted: Wanted) -> Mapping[Phrase, float]:
        """Return the probabilities of phrases; {} if none are known."""
        return {}

    def split(self, text: str) -> Iterable[Sequence[str]]:
        """Yield the words of the sentences of a text. Raises IncparseError for a language that spaCy does not know."""
        from spacy_incparse.workbench.models import blank_split  # imports spaCy

        return blank_split(self._lang, text)

    def _branching(self, wanted: Wanted, span: Callable[[int, int, int], tuple[int, int] | None]) -> Tree:
        """Return a tree, given the phrase to make of each word but the first of the smallest phrase around it."""
        n, phrases = len(wanted.words), set[Phrase]()
        for i in range(1, n):
            over = (one for one in wanted.required if one[1] < i < one[2])
            found = span(i, *min(over, key=lambda one: one[2] - one[1], default=("", 0, n))[1:])
            if found and not any(crosses(("", *found), one) for one in wanted.required):
                phrases.add((self.labels[0], *found))
        seen = (self._seen.get(word.lower()) for word in wanted.words)
        tags = [one.most_common(1)[0][0] if one else self.tags[0] for one in seen]
        ordered = sorted(phrases, key=lambda one: (one[1], -one[2]))
        return wanted.met_by(tree_of_phrases([(ROOT, 0, n), *ordered], wanted.words, tags))


def load_model(name: str) -> Proposer:
    """Return the pipeline of a name or path. Errors are those of `models.Model`."""
    from spacy_incparse.workbench.models import Model  # imports spaCy, which takes a second

    return Model(name)
