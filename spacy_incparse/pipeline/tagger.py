"""The component `incparse_tagger`: the averaged-perceptron part-of-speech tagger on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline.tagger import tagger_score
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_incparse.documents.sentences import Sentence, split_sentences, write_tags
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.pipeline.model import TaggerModel, check_source
from spacy_incparse.pipeline.tree_pipe import TrainedPipe


@Language.factory(
    "incparse_tagger",
    assigns=["token.tag"],
    requires=["token.is_sent_start"],
    default_config={
        "model": None,
        "training": {"seed": 0},
        "scorer": {"@scorers": "spacy.tagger_scorer.v1"},
    },
    default_score_weights={"tag_acc": 1.0},
)
def make_incparse_tagger(
    nlp: Language, name: str, model: str | Path | None, training: dict[str, Any], scorer: Callable | None
) -> IncParserTagger:
    """Create the component.

    model: the source of the weights, as in `incparse`: a pipeline with either component.
    training: settings of `Tagger.train`.
    scorer: as in every spaCy component.
    """
    parts = check_source(nlp, name, model, TaggerModel)
    if parts and "tagger" not in parts:
        raise ModelError(
            f"the component {name!r}: {model!r} has no tagger, because its parser finds the tags: set its set_tags, or "
            f"choose another model, such as 'en'"
        )
    return IncParserTagger(nlp.vocab, TaggerModel(model), name, training=training, scorer=scorer)


class IncParserTagger(TrainedPipe):
    """A part-of-speech tagger as a spaCy component, which sets token.tag_.

    `initialize` does all the training, including the passes over the treebank, so `update` does nothing.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: TaggerModel,
        name: str = "incparse_tagger",
        *,
        training: dict[str, Any] | None = None,
        scorer: Callable | None = tagger_score,
    ):
        super().__init__(vocab, model, name, scorer)
        self.training = training or {}

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags that the model knows; () before training."""
        return self.model.tags

    @property
    def label_data(self) -> list[str]:
        """The tags as `spacy init labels` stores them."""
        return list(self.labels)

    def predict(self, docs: Iterable[Doc]) -> list[list[tuple[Sentence, Sequence[str]]]]:
        """Return the sentences of each Doc with their tags, without modifying the Docs."""
        tagger = self._tagger()
        by_doc = [split_sentences(doc) for doc in docs]
        sentences = [sentence for group in by_doc for sentence in group]
        try:
            tags = tagger.tag_batch([sentence.words for sentence in sentences])
        except Exception:
            tags = [self._tag_one(tagger, sentence) for sentence in sentences]
        tagged = iter(zip(sentences, tags, strict=True))
        return [list(islice(tagged, len(group))) for group in by_doc]

    def set_annotations(self, docs: Iterable[Doc], scores: list[list[tuple[Sentence, Sequence[str]]]]) -> None:
        """Write the tags that `predict` returned to the Docs; whitespace tokens get no tags."""
        for doc, tagged in zip(docs, scores, strict=True):
            if tagged:
                write_tags(doc, tagged)

    def k_best(self, doc: Doc, k: int) -> list[list[list[tuple[str, float]]]]:
        """Return the `k` best (tag, score) pairs for each word of each sentence, best first."""
        tagger = self._tagger()
        return [tagger.k_best(sentence.words, k) for sentence in split_sentences(doc)]

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Train on the tags of all examples. A component with weights keeps them if no example has tags."""
        from spacy_incparse.tagging.tagger import Tagger

        gold = [item for example in get_examples() for item in _gold(example)]
        if not gold and self.model.tagger is not None:
            return
        if not gold:
            raise IncparseError(f"the component {self.name!r} found no tagged sentences (token.tag_) to learn from")
        words, tags = zip(*gold, strict=True)
        self.model.tagger = Tagger.train(words, tags, **self.training)

    def _tagger(self) -> Any:
        if self.model.tagger is None:
            raise IncparseError(
                f"the component {self.name!r} has no weights yet: choose a model, as in "
                f"nlp.add_pipe('incparse_tagger', config={{'model': 'en'}}), or train it (nlp.initialize())"
            )
        return self.model.tagger

    def _tag_one(self, tagger: Any, sentence: Sentence) -> Sequence[str]:
        try:
            return tagger.tag(sentence.words)
        except Exception as error:
            start = " ".join(sentence.words[:8])
            self._warn_once("error", f"a sentence was not tagged ({error!r}): {start!r}")
            return sentence.tags


def _gold(example: Example) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (words, tags) of the reference's sentences in which every word has a tag."""
    for sentence in split_sentences(example.reference):
        if all(sentence.tags):
            yield sentence.words, sentence.tags
