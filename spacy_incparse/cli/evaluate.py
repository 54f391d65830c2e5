"""`evaluate`: measure a pipeline's accuracy and speed on a treebank."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_incparse.cli.options import (
    GoldTags,
    NoTags,
    OutputFile,
    SkipBad,
    keep_inputs,
    open_pipeline,
    open_treebank,
    write_json,
)
from spacy_incparse.cli.tree_sentences import doc_of_tree
from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.characters import TextScores, score_texts
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_incparse.documents.confidence_scores import ConfidenceScores

SENTS_PER_TEXT = 50  # with --raw: the number of consecutive sentences in a text


def evaluate_command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline: embedded (en), installed, or a folder.")],
    treebank: Annotated[
        str, typer.Argument(metavar="TREEBANK", help="Bracket file, folder or glob with the gold trees.")
    ],
    gold_tags: GoldTags = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Parse raw text with the pipeline's own tokens and sentences.")
    ] = False,
    calibration: Annotated[
        bool, typer.Option("--calibration", help="Also measure how reliable the confidence of trees and phrases is.")
    ] = False,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
    output: OutputFile = None,
) -> None:
    """Measure a pipeline's trees and speed on a treebank.

    The figures are EVALB's (with COLLINS.prm), and the speed of tagging and parsing together. Without --raw the
    pipeline gets the treebank's tokens and sentences.

    \b
    Examples:
      spacy-incparse evaluate en dev.mrg
      spacy-incparse evaluate out/model-best dev.mrg --gold-tags --output dev.json
    """
    if raw and (gold_tags or calibration):
        what = "--gold-tags" if gold_tags else "--calibration"
        raise IncparseError(f"--raw and {what} exclude each other: {what} needs the treebank's tokens and sentences")
    if gold_tags and no_tags:
        raise IncparseError("--gold-tags and --no-tags exclude each other")
    keep_inputs(output, treebank)
    trees = open_treebank(treebank, skip_bad=skip_bad, no_tags=no_tags)
    nlp, _ = open_pipeline(model)
    if raw:
        evaluation = evaluate_raw(nlp, trees)
    else:
        evaluation = evaluate(nlp, trees, gold_tags=gold_tags, with_confidence=calibration)
    typer.echo(evaluation.format())
    write_json(
        output, {"model": model, "treebank": treebank, "gold_tags": gold_tags, "raw": raw} | evaluation.to_dict()
    )


@dataclass(frozen=True)
class Evaluation:
    """The scores of a pipeline on a treebank, and statistics of the parsing."""

    result: TextScores
    raw: bool
    n_sents: int  # of the treebank
    n_words: int
    n_failed: int  # sentences that got a flat tree
    n_relaxed: int  # sentences in which some word needed more than the grammar's triples
    words_per_second: float  # of the whole pipeline
    confidence: ConfidenceScores | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON-serializable dict, described in docs/output.md."""
        scores = self.result.to_dict() if self.raw else self.result.scores.to_dict()
        counts = {
            "sents": self.n_sents,
            "words": self.n_words,
            "failed": self.n_failed,
            "relaxed": self.n_relaxed,
            "words_per_second": round(self.words_per_second, 1),
        }
        return counts | scores | ({} if self.confidence is None else {"calibration": self.confidence.to_dict()})

    def format(self) -> str:
        """Return the figures as text."""
        scores = self.result.format() if self.raw else self.result.scores.format()
        confidence = "" if self.confidence is None else f"\n{self.confidence.format()}"
        return (
            f"{scores}\n\n{self.n_sents:,} sentences, {self.n_words:,} words; "
            f"{self.n_relaxed:,} relaxed, {self.n_failed:,} failed; "
            f"{self.words_per_second:,.0f} words per second{confidence}"
        )


def evaluate(
    nlp: Language,
    trees: Sequence[Tree],
    *,
    gold_tags: bool = False,
    with_confidence: bool = False,
) -> Evaluation:
    """Parse the words of normalized trees, one Doc per sentence, and score the trees by characters.

    `with_confidence` takes about ten times as long; the speed is measured without it. Raises IncparseError if the model
    then has no temperature.
    """
    from spacy_incparse.documents.confidence_scores import score_confidence
    from spacy_incparse.documents.conversion import trees_to_docs
    from spacy_incparse.pipeline.given_annotations import given

    gold = list(trees_to_docs(trees, nlp.vocab))
    docs = [doc_of_tree(nlp, tree, with_tags=gold_tags) for tree in trees]
    found = {"token.is_sent_start", "doc.sents"} | ({"token.tag"} if gold_tags else set())
    with given(nlp, found, "doc" if gold_tags else None):
        parsed, seconds = _timed(nlp, docs, doc_of_tree(nlp, trees[0], with_tags=gold_tags))
    confidence = score_confidence(trees, parsed) if with_confidence else None
    return replace(_evaluation(trees, gold, parsed, seconds, raw=False), confidence=confidence)


def evaluate_raw(nlp: Language, trees: Sequence[Tree]) -> Evaluation:
    """Parse the text of normalized trees, several sentences per text, and score the trees by characters."""
    from spacy_incparse.documents.conversion import trees_to_docs

    gold = list(trees_to_docs(trees, nlp.vocab, natural_spacing=True, n_sents=SENTS_PER_TEXT))
    parsed, seconds = _timed(nlp, [doc.text for doc in gold], trees[0].words[0])
    return _evaluation(trees, gold, parsed, seconds, raw=True)


def _timed(nlp: Language, inputs: Sequence[Any], first: Any) -> tuple[list[Doc], float]:
    """Run the pipeline and measure the time, after one warm-up sentence that triggers lazy loading."""
    nlp(first)
    started = time.perf_counter()
    docs = list(nlp.pipe(inputs))
    return docs, time.perf_counter() - started


def _evaluation(
    trees: Sequence[Tree], gold: Iterable[Doc], parsed: Sequence[Doc], seconds: float, *, raw: bool
) -> Evaluation:
    from spacy_incparse.documents.tree_storage import anchored_trees
    from spacy_incparse.pipeline.scorers import placed_trees

    found = [tree for doc in parsed for tree in anchored_trees(doc)]
    return Evaluation(
        result=score_texts(map(placed_trees, gold), map(placed_trees, parsed)),
        raw=raw,
        n_sents=len(trees),
        n_words=sum(len(tree.words) for tree in trees),
        n_failed=sum(tree.source == "flat" for tree in found),
        n_relaxed=sum(tree.source == "relaxed" for tree in found),
        words_per_second=sum(len(tree.tree.words) for tree in found) / max(seconds, 1e-9),
    )
