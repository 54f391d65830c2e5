"""Categorize phrases with spaCy's span categorizer, using the parser's phrases as candidates.

usage: python examples/span_categoriser.py

The script trains on a dozen sentences in which places and times are marked, and prints those that it finds in two new
sentences; `doc.spans["sc"].attrs["scores"]` contains their scores. A span categorizer scores all spans from its
suggester. Phrases are few and have the right boundaries, while spaCy's default suggester returns all sequences of one
to three words.

In a config for `spacy train` the suggester is `{"@misc": "phrase_suggester.v1", "labels": ["NP", "PP"]}`, with
`--code examples/span_categoriser.py` and `annotating_components = ["senter", "incparse_tagger", "incparse"]` under
`[training]`. Without your own code, `spans_key = "phrases"` of the component `incparse` and spaCy's
`spacy.preset_spans_suggester.v1` suggest phrases with all labels.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Ops, fix_random_seed, get_current_ops
from thinc.types import Ragged

import spacy_incparse

SENTENCES = """
The parcel arrived [on Monday|TIME] [at the old harbour|PLACE].
[In the morning|TIME] Anna swims [in the lake|PLACE].
Ben works [in a small bakery|PLACE].
The train leaves [at noon|TIME].
[After lunch|TIME] the children play [in the garden|PLACE].
We met her [at the station|PLACE] [on Sunday|TIME].
The cat sleeps [under the table|PLACE].
They opened the shop [in March|TIME].
She found a coin [in the river|PLACE].
[During the night|TIME] it snowed [in the village|PLACE].
The owl sits [on the roof|PLACE] [in the evening|TIME].
He repaired the fence with a friend [before the winter|TIME].
"""
NEW = ("The boat lies at the old station.", "On Monday the cat found a parcel in the garden.")
SPANS_KEY = "sc"  # the span group that the component reads and writes


@spacy.registry.misc("phrase_suggester.v1")
def phrase_suggester(labels: Sequence[str] = ()) -> Callable[..., Ragged]:
    """Return a suggester for the phrases of a Doc's trees, each span once; with `labels`, only these phrases."""

    def suggest(docs: Iterable[Doc], *, ops: Ops | None = None) -> Ragged:
        ops = ops or get_current_ops()
        spans = [sorted({(span.start, span.end) for span in phrases(doc, labels)}) for doc in docs]
        flat = [pair for of_doc in spans for pair in of_doc]
        array = ops.asarray2i(flat) if flat else ops.alloc2i(0, 2)
        return Ragged(array, ops.asarray1i([len(of_doc) for of_doc in spans]))

    return suggest


def phrases(doc: Doc, labels: Sequence[str] = ()) -> Iterator[Span]:
    """Yield the phrases of a parsed Doc."""
    for tree in doc._.trees:
        for node in tree.subtrees(where=lambda node: not node.is_preterminal):
            if node.span is not None and (not labels or node.category in labels):
                yield node.span


def marked_example(nlp: Language, line: str) -> Example:
    """Return an Example of a line, parsed without its marks, which become the spans to learn."""
    text, places = "", []
    for part in re.split(r"(\[[^]]*\])", line):
        words, _, label = part.strip("[]").partition("|")
        if label:
            places.append((len(text), len(text) + len(words), label))
        text += words
    doc = nlp(text)
    right = doc.copy()
    right.spans[SPANS_KEY] = [right.char_span(*place) for place in places]
    return Example(doc, right)


def train(nlp: Language, examples: Sequence[Example], n_passes: int = 30) -> list[float]:
    """Add a span categorizer to a pipeline with trees and train only this component; return its loss in each pass."""
    config = {"spans_key": SPANS_KEY, "suggester": {"@misc": "phrase_suggester.v1", "labels": ["NP", "PP"]}}
    categoriser = nlp.add_pipe("spancat", config=config)
    categoriser.initialize(lambda: examples, nlp=nlp)
    optimizer = nlp.resume_training()
    rng, losses = random.Random(0), []
    for _ in range(n_passes):
        found: dict[str, float] = {}
        for example in rng.sample(examples, len(examples)):
            categoriser.update([example], sgd=optimizer, losses=found)
        losses.append(found["spancat"])
    return losses


if __name__ == "__main__":
    fix_random_seed(0)
    nlp = spacy_incparse.load("en")
    examples = [marked_example(nlp, line) for line in SENTENCES.strip().splitlines()]
    train(nlp, examples)
    for doc in nlp.pipe(NEW):
        for span in doc.spans[SPANS_KEY]:
            print(span.label_, span.text, sep="\t")
