"""`score-trees`: score given trees with a parser."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from typer import Option, echo

from spacy_incparse.cli import options
from spacy_incparse.cli.evaluate import tree_sentences
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.dialects import Dialects
from spacy_incparse.treebanks.reader import SkipLog, normalize, read_numbered_trees
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.parsing.parse import Parse, ScoredMove, ScoredRule, TreeScore, Violation
    from spacy_incparse.pipeline.tree_pipe import TreePipe

COLUMNS = ("tree", "words", "score", "per_word", "derived", "best", "is_best", "missing")
MOVE_COLUMNS = (
    "tree", "word", "text", "tag", "closings", "chain", "closing_score", "chain_score", "score", "missing",
)  # fmt: skip
RULE_COLUMNS = ("tree", "start", "end", "rule", "score", "missing")


@options.takes(
    tags=options.one_of("own gold", "--tags", help="Score with the tags of the parser's tagger, or of the trees."),
    format_=options.one_of("tsv json", "--format", "-f", help="A table, or a JSON object per tree."),
    derivation=Option("--derivation", help="Write the moves word by word, or a chart's rules, with their scores."),
    output=options.output_option("FILE", "Write to this file instead of standard output."),
)
def score_trees_command(
    trees: list[str], model: str = "en", tags: str = "own", format_: str = "tsv", derivation: bool = False,
    skip_bad: bool = False, no_tags: bool = False, dialect: str | None = None, output: Path | None = None,
) -> None:  # fmt: skip
    """Score given trees with a parser.

    Use this to compare trees of one sentence: gold trees, trees of other parsers, or your own variants. Each tree has a
    row with the score that the parser itself would give it, whether the parser's grammar derives it, what is missing,
    the score of the parser's own best tree, and whether the two are the same. The scores of a generative model are
    natural log probabilities, which include words and tags; those of a chart parser are log probabilities given them.

    \b
    Examples:
      spacy-incparse score-trees dev.mrg > scores.tsv
      spacy-incparse score-trees variants.mrg --tags gold --derivation
      spacy-incparse score-trees dev.mrg --format json --output scores.jsonl
    """
    if no_tags and tags == "gold":
        raise IncparseError("--tags gold and --no-tags exclude each other")
    options.keep_inputs(output, *trees)
    log = SkipLog() if skip_bad else None
    numbered = _read_numbered(trees, log, no_tags=no_tags, dialect=options.dialects(dialect))
    nlp, parser = options.open_pipeline(model)
    scored = _with_progress(score_trees(nlp, parser, numbered, gold_tags=tags == "gold"), output)
    first = list(islice(scored, 1))  # so that its errors are reported before anything is written
    everything = chain(first, scored)
    if format_ == "json":
        options.write_lines(output, (srsly.json_dumps(_object(item, derivation)) for item in everything))
    else:
        rows = _derivation_rows(everything) if derivation else _tree_rows(everything)
        options.write_lines(output, ("\t".join(map(str, row)) for row in rows))
    if log:
        echo(str(log), err=True)


@dataclass(frozen=True)
class ScoredTree:
    """A tree of the input, by its number from 1, and the parser's own best tree of the sentence.

    scored: None if some word is only whitespace, which is not a word of a Doc.
    """

    number: int
    tree: Tree
    scored: TreeScore | None
    best: Parse | None

    @property
    def score(self) -> float | None:
        """The score of the tree, if it has one."""
        return self.scored.score if self.scored else None

    @property
    def per_word(self) -> float | None:
        """The score by the number of words."""
        return None if self.score is None else self.score / len(self.tree.words)

    @property
    def is_best(self) -> bool:
        """Whether this is the parser's own tree, including tags."""
        return self.scored is not None and self.best is not None and self.scored.tree == self.best.tree

    @property
    def missing(self) -> str:
        """The first thing that the grammar lacks; "" if it derives the tree."""
        return "a word is whitespace" if self.scored is None else self.scored.reason


def _read_numbered(
    paths: Sequence[str], skip_bad: SkipLog | None, *, no_tags: bool, dialect: Dialects
) -> Iterator[tuple[int, Tree]]:
    """Yield the normalized trees of bracket files with their numbers in the input, skipping empty trees.

    The numbers include skipped trees, to match the treebank. Raises IncparseError if there are no trees.
    """
    n_found = 0
    for number, tree in read_numbered_trees(paths, skip_bad=skip_bad, tags=not no_tags, dialect=dialect):
        normalised = normalize(tree)
        if normalised is not None:
            n_found += 1
            yield number, normalised
    if not n_found:
        raise IncparseError(f"{' '.join(paths)}: no trees with words were found")


def score_trees(
    nlp: Language, component: TreePipe, trees: Iterable[tuple[int, Tree]], *, gold_tags: bool = False
) -> Iterator[ScoredTree]:
    """Yield the scores of normalized trees, each with its sentence parsed with the same tags."""
    numbered, others = tee(trees)
    with tree_sentences(nlp, component, (tree for _, tree in others), gold_tags=gold_tags) as sentences:
        for (number, tree), sentence in zip(numbered, sentences, strict=True):
            if sentence is None:
                yield ScoredTree(number, tree, None, None)
            else:
                parser, given = component.decoder.parser, component.input_of(sentence)
                words, tags, _, *more = given
                yield ScoredTree(number, tree, parser.score(words, tags, tree, *more), parser.parse(*given))


def _with_progress(scored: Iterable[ScoredTree], output: Path | None) -> Iterator[ScoredTree]:
    with options.progress_bar(is_shown=output is not None or not sys.stdout.isatty(), unit=" trees") as progress:
        for item in scored:
            yield item
            progress.update()


def _tree_rows(scored: Iterator[ScoredTree]) -> Iterator[Sequence[object]]:
    yield COLUMNS
    for item in scored:
        best = item.best.score if item.best else None
        yield (
            item.number, len(item.tree.words), _cell(item.score), _cell(item.per_word), _yes(not item.missing),
            _cell(best), _yes(item.is_best), item.missing,
        )  # fmt: skip


def _derivation_rows(scored: Iterator[ScoredTree]) -> Iterator[Sequence[object]]:
    """Yield the rows of the table that fits the first tree: a parser's trees all have moves, or all have rules."""
    waiting = []
    for item in scored:
        waiting.append(item)
        if item.scored is not None:
            break
    has_rules = any(item.scored and item.scored.rules for item in waiting)
    yield RULE_COLUMNS if has_rules else MOVE_COLUMNS
    for item in chain(waiting, scored):
        if item.scored is None:
            continue
        for step in item.scored.rules if has_rules else ():
            yield item.number, step.start + 1, step.end, step.rule, _cell(step.score), _what(step.violation)
        for number, move in enumerate(() if has_rules else item.scored.moves, start=1):
            yield (
                item.number, number, move.word or "", move.tag or "", " ".join(move.closings), " ".join(move.chain),
                _cell(move.closing_score), _cell(move.chain_score), _cell(move.score), _what(move.violation),
            )  # fmt: skip


def _object(item: ScoredTree, with_moves: bool) -> dict[str, Any]:
    content: dict[str, Any] = {
        "number": item.number,
        "tree": str(item.scored.tree if item.scored else item.tree),
        "words": len(item.tree.words),
        "score": item.score,
        "per_word": item.per_word,
        "derived": not item.missing,
        "missing": item.missing,
        "is_best": item.is_best,
        "best": None,
    }
    if item.best is not None:
        content["best"] = {"tree": str(item.best.tree), "score": item.best.score, "source": item.best.source}
    if with_moves and item.scored and item.scored.rules:
        content["rules"] = [
            {"start": rule.start + 1, "end": rule.end, "rule": rule.rule, "score": rule.score, **_missing(rule)}
            for rule in item.scored.rules
        ]
    elif with_moves:
        content["moves"] = [
            {
                "text": move.word,
                **{name: getattr(move, name) for name in ("tag", "closings", "chain", "closing_score", "chain_score")},
                **_missing(move),
            }
            for move in (item.scored.moves if item.scored else ())
        ]
    return content


def _missing(step: ScoredMove | ScoredRule) -> dict[str, Any]:
    return {"missing": step.violation._asdict() if step.violation else None}


def _cell(score: float | None) -> str:
    return "" if score is None else f"{score:.6f}"


def _yes(condition: bool) -> str:
    return "yes" if condition else "no"


def _what(violation: Violation | None) -> str:
    return f"{violation.what} ({violation.kind})" if violation else ""
