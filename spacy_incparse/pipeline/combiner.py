"""The component `incparse_combiner`, which makes one tree of what several parsers before it find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import is_
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_incparse.documents.live_parsers import ConfiguredParser
from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.parsing.parse import Input, best_tag
from spacy_incparse.pipeline.tree_pipe import TREE_DEFAULTS, TreePipe, tree_factory
from spacy_incparse.settings import check_range

if TYPE_CHECKING:  # compiled modules are only loaded when a component needs them
    from spacy_incparse.parsing.combination import ComponentCombination
    from spacy_incparse.trees.tree import Tree

LEAST_MEMBERS = 2
DEFAULT_CONFIG: dict[str, Any] = {"members": {}, **TREE_DEFAULTS}
del DEFAULT_CONFIG["tags"]  # each member has its own


@tree_factory("incparse_combiner", DEFAULT_CONFIG)
def make_incparse_combiner(nlp: Language, name: str, members: dict[str, float], **settings: Any) -> IncParserCombiner:
    """Create the component. It has no weights of its own: the tree of each sentence has the highest expected F by the
    probabilities that the members give to phrases. Its other settings are those of `TreeSettings`, without `tags`.

    members: the components `incparse` and `incparse_neural` before this one that are combined, by name, and how much
        the probabilities of each count; {}: all of them, each as much. The trees have the tags of the first.
    required_key, forbidden_key: as in `incparse`. Set them here: those of the members are ignored.
    search: settings of `CombinerSearch`.
    """
    return IncParserCombiner(nlp.vocab, Model("incparse_combiner", _no_forward), name, members=members, **settings)


class CombinedDecoder(ConfiguredParser):
    """The parsers of several components, combined; the components find the tags."""

    def __init__(
        self,
        parser: ComponentCombination,
        components: Sequence[TreePipe],
        bases: Sequence[ConfiguredParser],
        weights: dict[str, float],
        search: dict[str, Any],
        nbest: int,
        maker: str,
    ):
        super().__init__(parser, None, search, nbest, maker)
        self._components, self._bases, self._weights = components, bases, weights

    def is_of(self, bases: Sequence[ConfiguredParser], weights: dict[str, float]) -> bool:
        """Return whether these are its members, unchanged."""
        return self._weights == weights and all(map(is_, self._bases, bases))

    def inputs_of(self, sentences: Sequence[Sentence], *, use_given: bool) -> list[Input]:
        """Return the inputs with those of all members; whether a member uses given tags is its own setting.

        The tags are those of the first member.
        """
        if not sentences:
            return []
        if any(sentence.seen is None for sentence in sentences):
            raise IncparseError("the members of a combination read Docs: ask for the trees of a Doc")
        seen = zip(*(sentence.seen for sentence in sentences), strict=True)
        by_member = [component.inputs_of(own) for component, own in zip(self._components, seen, strict=True)]
        of_members = zip(*by_member, strict=True)
        return [
            (one.words, list(map(best_tag, own[0][1])), one.constraints, own)
            for one, own in zip(sentences, of_members, strict=True)
        ]


class IncParserCombiner(TreePipe):
    """A component that combines parsers. See `make_incparse_combiner` for all settings.

    The members may be disabled, if they are in the pipeline: then each sentence is parsed once. `cfg` stores the
    temperature.
    """

    is_member = False

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "incparse_combiner",
        *,
        members: dict[str, float] | None = None,
        **settings: Any,
    ):
        self.members = dict(members or {})
        if 0 < len(self.members) < LEAST_MEMBERS:
            raise ConfigError(f"{name}: members = {list(self.members)} must name two components or more")
        for member, weight in self.members.items():
            check_range(f"{name}: the weight of {member}", weight, 1e-6, 1e6)
        self._found: dict[str, TreePipe] = {}  # the last members found: a copy in another process has no pipeline
        super().__init__(vocab, model, name, **settings)
        self.cfg.update(temperature=None)

    def check_search(self, search: dict[str, Any]) -> None:
        """Raise ConfigError if a search setting is unknown or has a value that it cannot have."""
        from spacy_incparse.parsing.combination import CombinerSearch

        CombinerSearch().with_search(**search)

    @property
    def components(self) -> list[TreePipe]:
        """The members, also disabled ones. Raises IncparseError if one is not before this component."""
        return list(self._members().values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The phrase labels of the members; () if one is missing."""
        try:
            return tuple(sorted({label for component in self.components for label in component.labels}))
        except IncparseError:
            return ()

    @property
    def decoder(self) -> CombinedDecoder:
        """The combination with the component's search. Raises IncparseError if a member is missing or not trained."""
        from spacy_incparse.parsing.combination import ComponentCombination

        members, known = self._members(), self._decoder
        bases = [component.decoder for component in members.values()]
        weights = {name: self.members.get(name, 1.0) for name in members}
        if not (isinstance(known, CombinedDecoder) and known.is_of(bases, weights)):
            parser = ComponentCombination([base.parser for base in bases], weights, temperature=self.cfg["temperature"])
            known = self._decoder = CombinedDecoder(
                parser, list(members.values()), bases, weights, self._search, self.nbest, self.maker
            )
        return known

    @property
    def weights_id(self) -> str:
        """The ids of the members; "" if one of them has none."""
        makers = [component.maker for component in self.components]
        return " ".join(makers) if all(makers) else ""

    def sentences_by_doc(self, docs: Sequence[Doc]) -> list[list[Sentence]]:
        """Return the sentences of each Doc with the constraints of this component, and as each member sees them."""
        by_member = [component.sentences_by_doc(docs) for component in self.components]
        return [
            [_seen_by(seen, sentence) for sentence, *seen in zip(own, *of_members, strict=True)]
            for own, *of_members in zip(super().sentences_by_doc(docs), *by_member, strict=True)
        ]

    def with_constraints(self, doc: Doc, sentence: Sentence) -> Sentence:
        """Return a sentence with the current constraints on its Doc, and as each member sees it."""
        own = super().with_constraints(doc, sentence)
        return _seen_by([component.with_constraints(doc, sentence) for component in self.components], own)

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None, labels: Any = None
    ) -> None:
        """Do nothing: the members are trained."""

    def __reduce__(self):
        self._members()  # a copy goes on with the components found here
        return super().__reduce__()

    def _members(self) -> dict[str, TreePipe]:
        """Return the members by their names in the pipeline."""
        nlp = self.pipeline()
        if nlp is not None:
            self._found = self._named(nlp)
        return self._found

    def _named(self, nlp: Language) -> dict[str, TreePipe]:
        """Return the members in a pipeline by their names."""
        before = list(takewhile(lambda named: named[1] is not self, nlp.components))
        pipes = {name: pipe for name, pipe in before if isinstance(pipe, TreePipe) and pipe.is_member}
        for member in self.members:
            if member not in pipes:
                raise IncparseError(
                    f"the component {self.name!r} has the member {member!r}, but there is no parser of this name "
                    f"before it in the pipeline: add it, or name others in the setting members"
                )
        if len(pipes) < LEAST_MEMBERS:
            raise IncparseError(
                f"the component {self.name!r} has nothing to combine: there must be two parsers before it, of the "
                f"factories 'incparse' and 'incparse_neural'"
            )
        return {member: pipes[member] for member in self.members or pipes}

    def _fitted_temperature(self, gold: Sequence[tuple[Tree, Sentence]]) -> float | None:
        from spacy_incparse.training.temperature import best_temperature, scored_analyses

        given = self.inputs_of([sentence for _, sentence in gold])
        found = scored_analyses(self.decoder.parser, [tree for tree, _ in gold], given)
        return best_temperature(found.scores, found.is_right)

    def gold_sentences(self, examples: Iterable[Example]) -> Any:
        """Yield the gold trees of parsed examples with their sentences, as each member sees them."""
        for example in examples:
            for tree, sentence in super().gold_sentences([example]):
                yield tree, self.with_constraints(example.predicted, replace(sentence, constraints=()))

    def _set_temperature(self, temperature: float) -> None:
        self.cfg["temperature"], self._decoder = temperature, None


def _seen_by(members: Iterable[Sentence], sentence: Sentence) -> Sentence:
    """Return a sentence with the same sentence as each member sees it, under its constraints."""
    return replace(sentence, seen=[replace(one, constraints=sentence.constraints) for one in members])


def _no_forward(model: Model, inputs: Any, is_train: bool) -> Any:
    raise NotImplementedError("a combination has no weights")
