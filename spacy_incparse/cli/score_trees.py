"""`score-trees`: score given trees with a parser."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer

from spacy_incparse.cli.evaluate import tree_sentences
from spacy_incparse.cli.group import progress_bar
from spacy_incparse.cli.options import Model, NoTags, SkipBad, check_output, keep_inputs, open_pipeline, write_lines
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.treebanks.reader import SkipLog, read_numbered_trees
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.documents.sentences import Sentence
    from spacy_incparse.parsing.parse import Parse, ScoredMove, ScoredRule, TreeScore
    from spacy_incparse.pipeline.tree_pipe import TreePipe

COLUMNS = ("tree", "words", "score", "per_word", "derived", "best", "is_best", "missing")
MOVE_COLUMNS = (
    "tree", "word", "text", "tag", "closings", "chain", "closing_score", "chain_score", "score", "missing",
)  # fmt: skip
RULE_COLUMNS = ("tree", "start", "end", "rule", "score", "missing")


class TagSource(str, Enum):
    """The source of the tags used for scoring."""

    own = "own"
    gold = "gold"


class Format(str, Enum):
    """The output formats."""

    tsv = "tsv"
    json = "json"


def score_trees_command(
    trees: Annotated[list[str], typer.Argument(metavar="TREES", help="Bracket files, folders or globs.")],
    model: Model = "en",
    tags: Annotated[
        TagSource, typer.Option("--tags", help="Score with the tags of the parser's tagger, or of the trees.")
    ] = TagSource.own,
    format_: Annotated[Format, typer.Option("--format", "-f", help="A table, or a JSON object per tree.")] = Format.tsv,
    derivation: Annotated[
        bool, typer.Option("--derivation", help="Write the moves word by word, or a chart's rules, with their scores.")
    ] = False,
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to this file instead of standard output.",
            callback=lambda path: check_output(path),
        ),
    ] = None,
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
    if no_tags and tags is TagSource.gold:
        raise IncparseError("--tags gold and --no-tags exclude each other")
    keep_inputs(output, *trees)
    log = SkipLog() if skip_bad else None
    numbered = read_numbered(trees, log, no_tags=no_tags)
    nlp, parser = open_pipeline(model)
    scored = score_trees(nlp, parser, numbered, gold_tags=tags is TagSource.gold)
    writer = _WRITERS[format_, derivation]
    write_lines(output, writer(_begun(_with_progress(scored, is_shown=output is not None))))
    if log:
        typer.echo(str(log), err=True)


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
    def is_best(self) -> bool:
        """Whether this is the parser's own tree, including tags."""
        return self.scored is not None and self.best is not None and self.scored.tree == self.best.tree

    @property
    def missing(self) -> str:
        """The first thing that the grammar lacks; "" if it derives the tree."""
        return "a word is whitespace" if self.scored is None else self.scored.reason


def read_numbered(
    paths: Sequence[str], skip_bad: SkipLog | None = None, *, no_tags: bool = False
) -> Iterator[tuple[int, Tree]]:
    """Yield the normalized trees of bracket files with their numbers in the input, skipping empty trees.

    The numbers include skipped trees, to match the treebank. Raises IncparseError if there are no trees.
    """
    n_found = 0
    for number, tree in read_numbered_trees(paths, skip_bad=skip_bad, tags=not no_tags):
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
                yield _scored(number, tree, sentence, component)


def _scored(number: int, tree: Tree, sentence: Sentence, component: TreePipe) -> ScoredTree:
    parser, tags = component.decoder.parser, component.tags_for(sentence)
    best = parser.parse(tree.words, tags, sentence.constraints)
    return ScoredTree(number, tree, parser.score(tree.words, tags, tree), best)


def _with_progress(scored: Iterable[ScoredTree], *, is_shown: bool) -> Iterator[ScoredTree]:
    with progress_bar(is_shown=is_shown or not sys.stdout.isatty(), unit=" trees") as progress:
        for item in scored:
            yield item
            progress.update()


def _tree_table(scored: Iterable[ScoredTree]) -> Iterator[str]:
    yield "\t".join(COLUMNS)
    for item in scored:
        score, n_words = item.scored.score if item.scored else None, len(item.tree.words)
        cells = [
            str(item.number), str(n_words), _cell(score), _cell(None if score is None else score / n_words),
            _yes(not item.missing), _cell(item.best.score if item.best else None), _yes(item.is_best), item.missing,
        ]  # fmt: skip
        yield "\t".join(cells)


def _derivation_table(scored: Iterable[ScoredTree]) -> Iterator[str]:
    """Yield the lines of the table that fits the first tree: a parser's trees all have moves, or all have rules."""
    items = iter(scored)
    waiting = []
    for item in items:
        waiting.append(item)
        if item.scored is not None:
            break
    has_rules = any(item.scored and item.scored.rules for item in waiting)
    yield from (_rule_table if has_rules else _move_table)(chain(waiting, items))


def _rule_table(scored: Iterable[ScoredTree]) -> Iterator[str]:
    yield "\t".join(RULE_COLUMNS)
    for item in scored:
        for rule in item.scored.rules if item.scored else ():
            cells = [
                str(item.number), str(rule.start + 1), str(rule.end), rule.rule, _cell(rule.score),
                f"{rule.violation.what} ({rule.violation.kind})" if rule.violation else "",
            ]  # fmt: skip
            yield "\t".join(cells)


def _move_table(scored: Iterable[ScoredTree]) -> Iterator[str]:
    yield "\t".join(MOVE_COLUMNS)
    for item in scored:
        for number, move in enumerate(item.scored.moves if item.scored else (), start=1):
            cells = [
                str(item.number), str(number), move.word or "", move.tag or "", " ".join(move.closings),
                " ".join(move.chain), _cell(move.closing_score), _cell(move.chain_score), _cell(move.score),
                f"{move.violation.what} ({move.violation.kind})" if move.violation else "",
            ]  # fmt: skip
            yield "\t".join(cells)


def _objects(scored: Iterable[ScoredTree], *, with_moves: bool) -> Iterator[str]:
    for item in scored:
        score, n_words = item.scored.score if item.scored else None, len(item.tree.words)
        content: dict[str, Any] = {
            "number": item.number,
            "tree": str(item.scored.tree if item.scored else item.tree),
            "words": n_words,
            "score": score,
            "per_word": None if score is None else score / n_words,
            "derived": not item.missing,
            "missing": item.missing,
            "is_best": item.is_best,
            "best": None,
        }
        if item.best is not None:
            content["best"] = {"tree": str(item.best.tree), "score": item.best.score, "source": item.best.source}
        if with_moves and item.scored and item.scored.rules:
            content["rules"] = [_rule(rule) for rule in item.scored.rules]
        elif with_moves:
            content["moves"] = [_move(move) for move in (item.scored.moves if item.scored else ())]
        yield srsly.json_dumps(content)


def _move(move: ScoredMove) -> dict[str, Any]:
    return {
        "text": move.word,
        "tag": move.tag,
        "closings": list(move.closings),
        "chain": list(move.chain),
        "closing_score": move.closing_score,
        "chain_score": move.chain_score,
        "missing": move.violation._asdict() if move.violation else None,
    }


def _rule(rule: ScoredRule) -> dict[str, Any]:
    return {
        "start": rule.start + 1,
        "end": rule.end,
        "rule": rule.rule,
        "score": rule.score,
        "missing": rule.violation._asdict() if rule.violation else None,
    }


_WRITERS: dict[tuple[Format, bool], Callable[[Iterable[ScoredTree]], Iterator[str]]] = {
    (Format.tsv, False): _tree_table,
    (Format.tsv, True): _derivation_table,
    (Format.json, False): lambda scored: _objects(scored, with_moves=False),
    (Format.json, True): lambda scored: _objects(scored, with_moves=True),
}


def _begun(scored: Iterable[ScoredTree]) -> Iterator[ScoredTree]:
    """Score the first tree immediately, so that its errors are reported before anything is written."""
    items = iter(scored)
    first = list(islice(items, 1))
    return chain(first, items)


def _cell(score: float | None) -> str:
    return "" if score is None else f"{score:.6f}"


def _yes(condition: bool) -> str:
    return "yes" if condition else "no"
