"""`evaluate`: measure a pipeline's accuracy and speed on a treebank."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Argument, Option, echo

from spacy_incparse.cli import options
from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.annotations import GROUPS, AnnotationScores, Counts
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams, read_params
from spacy_incparse.evaluation.evalb import TextScores, report_scores, score_texts
from spacy_incparse.evaluation.nbest import Oracle, OracleReport
from spacy_incparse.functions.relations import RELATIONS
from spacy_incparse.functions.scoring import LOCAL, NONLOCAL, RelationScores, aligned, read_conllu
from spacy_incparse.functions.tables import NAMES, LanguageTable
from spacy_incparse.parsing.nbest import N_ANALYSES, probabilities
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.lists import CandidateList, read_lists
from spacy_incparse.tokens import spaces_after, spaces_in
from spacy_incparse.treebanks.reader import ANNOTATED, SkipLog, read_numbered_trees, read_parses, read_sentences
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_incparse.documents.doc_tree import ConfidenceScores
    from spacy_incparse.documents.live_parsers import LiveParser
    from spacy_incparse.documents.sentences import Sentence
    from spacy_incparse.functions.dependencies import Dependency
    from spacy_incparse.pipeline.tree_pipe import TreePipe


SENTS_PER_TEXT = 50  # with --raw: the number of consecutive sentences in a text


@options.takes(
    model=Argument(metavar="MODEL", help="A pipeline: embedded (en), installed, or a folder."),
    treebank=Argument(metavar="TREEBANK", help="Bracket file, folder or glob with the gold trees."),
    raw=Option("--raw", help="Parse raw text with the pipeline's own tokens and sentences."),
    clitics=Option("--clitics", metavar="WORDS", help='With --raw: words written at the end of others ("nya ku").'),
    calibration=Option("--calibration", help="Also measure how reliable the confidence of trees and phrases is."),
    dependencies=Option("--dependencies", metavar="FILE", help="CoNLL-U of the same sentences, to measure heads, too."),
)
def evaluate_command(
    model: str, treebank: str, gold_tags: bool = False, raw: bool = False, clitics: str = "", calibration: bool = False,
    dependencies: Path | None = None, prm: Path | None = None, skip_bad: bool = False, no_tags: bool = False,
    separators: str | None = None, dialect: str | None = None, output: Path | None = None,
) -> None:  # fmt: skip
    """Measure a pipeline's trees and speed on a treebank.

    The figures are EVALB's, and the speed of tagging and parsing together. Without --raw the
    pipeline gets the treebank's tokens and sentences, and what the treebank says beside phrases is
    measured, too: functions and empty categories, relations that follow from them, and dependencies,
    if it is CoNLL-U with brackets, as `parse --format conllu` prints, or with --dependencies.

    \b
    Examples:
      spacy-incparse evaluate en dev.mrg
      spacy-incparse evaluate out/model-best dev.mrg --gold-tags --output dev.json
    """
    if raw and (gold_tags or calibration or dependencies):
        what = "--gold-tags" if gold_tags else "--calibration" if calibration else "--dependencies"
        raise IncparseError(f"--raw and {what} exclude each other: {what} needs the treebank's tokens and sentences")
    options.keep_inputs(output, treebank, prm, dependencies)
    params = COLLINS if prm is None else read_params(prm)
    how: dict[str, Any] = {"gold_tags": gold_tags, "no_tags": no_tags, "separators": separators, "dialect": dialect}
    nlp, _ = options.open_pipeline(model)
    is_conllu = treebank.endswith((".conllu", ".conllu.gz"))
    if is_conllu and not raw:
        dependencies = dependencies or Path(treebank)
    trees = _gold_trees(treebank, skip_bad=skip_bad, **how, steps=None if raw else ANNOTATED)
    heads = aligned(read_conllu(dependencies), trees, dependencies) if dependencies else None
    texts = (
        {one.tree.words: one.text for one in read_sentences(treebank, skip_bad=SkipLog())} if raw and is_conllu else {}
    )
    spaces = partial(_spaces, texts=texts, clitics=frozenset(clitics.split())) if raw else None
    evaluation = evaluate(nlp, trees, gold_tags, spaces=spaces, with_confidence=calibration, params=params, heads=heads)
    echo(evaluation.format())
    settings = {"model": model, "treebank": treebank, "gold_tags": gold_tags, "raw": raw}
    options.write_json(output, settings | evaluation.to_dict())


def _spaces(tree: Tree, texts: Mapping[tuple[str, ...], str | None], clitics: frozenset[str]) -> list[bool]:
    """Return whether a space follows each word: in the treebank's own text, or else by rules."""
    known = texts.get(tree.words)
    return (spaces_in(known, tree.words) if known else None) or spaces_after(tree.words, tree.tags, clitics)


def _gold_trees(treebank: str, *, gold_tags: bool, no_tags: bool, **how: Any) -> list[Tree]:
    if gold_tags and no_tags:
        raise IncparseError("--gold-tags and --no-tags exclude each other")
    return options.open_treebank(treebank, no_tags=no_tags, **how)


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
    annotations: Mapping[str, Counts] = field(default_factory=dict)  # what gold trees say beside phrases

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON-serializable dict, described in docs/formats.md."""
        scores = self.result.to_dict() if self.raw else self.result.scores.to_dict()
        counts = {"sents": self.n_sents, "words": self.n_words, "failed": self.n_failed, "relaxed": self.n_relaxed}
        calibration = {} if self.confidence is None else {"calibration": self.confidence.to_dict()}
        found = {name: counts.f for name, counts in self.annotations.items()}
        annotations = {"annotations": found} if found else {}
        return counts | {"words_per_second": round(self.words_per_second, 1)} | scores | calibration | annotations

    def format(self) -> str:
        """Return the figures as text."""
        scores = self.result.format() if self.raw else self.result.scores.format()
        confidence = "" if self.confidence is None else f"\n{self.confidence.format()}"
        lines = [f"{'beside phrases':<46}{'P':>7}{'R':>7}{'F':>7}"]
        for name, row in self.annotations.items():
            lines.append(f"{name:<46}{100 * row.precision:7.2f}{100 * row.recall:7.2f}{100 * row.f:7.2f}")
        annotations = "\n\n" + "\n".join(lines) if self.annotations else ""
        return (
            f"{scores}\n\n{self.n_sents:,} sentences, {self.n_words:,} words; "
            f"{self.n_relaxed:,} relaxed, {self.n_failed:,} failed; "
            f"{self.words_per_second:,.0f} words per second{annotations}{confidence}"
        )


def _annotation_rows(
    nlp: Language, trees: Sequence[Tree], parsed: Sequence[Doc], heads: Sequence[Sequence[Dependency]] | None
) -> Iterator[tuple[str, Counts]]:
    """Yield what is printed of functions, empty categories, relations and dependencies, with its name.

    A sentence whose words are not those of the gold tree counts as one in which nothing is found.
    """
    from spacy_incparse.documents.storage import anchored_trees

    scores, has_table = AnnotationScores(), nlp.lang in NAMES
    relations = RelationScores(LanguageTable.find("en" if heads is None else str(nlp.lang)))
    has_functions = "incparse_functions" in nlp.pipe_factories.values()
    for number, (tree, doc) in enumerate(zip(trees, parsed, strict=True)):
        found = next((one.tree for one in anchored_trees(doc) if one.tree.words == tree.words), None)
        if has_functions:
            scores.add(tree, found or tree.strip_functions())
        arrays = None if found is None else found.arrays
        relations.add(tree.arrays, arrays)
        if heads is not None:
            relations.add_dependencies(heads[number], arrays)
    if scores.whole or scores.empties:
        groups = {"all": None, **GROUPS, "subjects": ("SBJ",)}
        for what, tally in (("phrases in both", scores.matched), ("end to end", scores.whole)):
            yield from ((f"functions, {what}: {name}", tally.total(tags)) for name, tags in groups.items())
        frequent = sorted(scores.empties, key=lambda name: -scores.empties[name].n_gold)[:8]
        for what, tally in (("empty categories", scores.empties), ("with antecedents", scores.linked)):
            yield what, tally.total()
            yield from ((f"{what}: {name}", tally[name]) for name in frequent)
    if has_table and any(tree.arrays.annotation and tree.arrays.annotation.empties for tree in trees):
        yield "relations", relations.relations.total()
        for tally, names in ((relations.places, (LOCAL, NONLOCAL)), (relations.relations, RELATIONS)):
            yield from ((f"relations: {name}", tally[name]) for name in names if name in tally)
    yield from ((f"dependencies: {name}", counts) for name, counts in relations.attached.items())


def evaluate(
    nlp: Language, trees: Sequence[Tree], gold_tags: bool = False, *, with_confidence: bool = False,
    spaces: Callable[[Tree], list[bool]] | None = None, params: EvalbParams = COLLINS,
    heads: Sequence[Sequence[Dependency]] | None = None,
) -> Evaluation:  # fmt: skip
    """Parse the words of normalized trees, one Doc per sentence, and score the trees by characters.

    spaces: parse their text, several sentences per text, with these spaces after words. heads: gold dependencies of
    each sentence. `with_confidence` takes about ten times as long; the speed is measured without it. Raises
    IncparseError if the model then has no temperature.
    """
    from spacy_incparse.documents.doc_tree import score_confidence
    from spacy_incparse.documents.gold import default_spaces, placed_trees, trees_to_docs
    from spacy_incparse.documents.storage import anchored_trees
    from spacy_incparse.pipeline.loading import SENTENCES, given

    raw = spaces is not None
    n_sents = SENTS_PER_TEXT if raw else 1
    gold = list(trees_to_docs(trees, nlp.vocab, natural_spacing=raw, n_sents=n_sents, spaces=spaces or default_spaces))
    if raw:
        inputs: list[Any] = [doc.text for doc in gold]
        first: Any = trees[0].words[0]
        context: Any = nullcontext()
    else:
        first, *inputs = [_doc_of_tree(nlp, tree, with_tags=gold_tags) for tree in (trees[0], *trees)]
        context = given(nlp, SENTENCES | ({"token.tag"} if gold_tags else set()), "doc" if gold_tags else None)
    with context:
        nlp(first)  # a warm-up sentence that triggers lazy loading
        started = time.perf_counter()
        parsed = list(nlp.pipe(inputs))
        seconds = time.perf_counter() - started
    results = [tree for doc in parsed for tree in anchored_trees(doc)]
    return Evaluation(
        result=score_texts(map(placed_trees, gold), map(placed_trees, parsed), params=params),
        raw=raw,
        n_sents=len(trees),
        n_words=sum(len(tree.words) for tree in trees),
        n_failed=sum(tree.source == "flat" for tree in results),
        n_relaxed=sum(tree.source == "relaxed" for tree in results),
        words_per_second=sum(len(tree.tree.words) for tree in results) / max(seconds, 1e-9),
        confidence=score_confidence(trees, parsed) if with_confidence else None,
        annotations={} if raw else dict(_annotation_rows(nlp, trees, parsed, heads)),
    )


SIZES = "1,2,5,10,20,50"


@options.takes(
    source=Argument(
        metavar="MODEL|LISTS", help="A pipeline: embedded (en), installed, or a folder; or a file of n-best lists."
    ),
    treebank=Argument(
        metavar="[TREEBANK]", help="Bracket file, folder or glob with the gold trees. Optional if LISTS has them."
    ),
    n=Option("--n", "-n", metavar="N,N,...", help="The numbers of trees to choose from."),
)
def oracle_command(
    source: str, treebank: str | None = None, n: str = SIZES, gold_tags: bool = False, prm: Path | None = None,
    skip_bad: bool = False, no_tags: bool = False, dialect: str | None = None, output: Path | None = None,
) -> None:  # fmt: skip
    """Measure n-best lists: the F of the best tree of each list, which no reranker can exceed.

    The lists come from a pipeline, which parses the treebank's sentences, or from a file, also of another parser (JSON
    lines, brackets with scores, lists of BLLIP). For each n, the table has the F of the oracle, which chooses the best
    of the first n trees, the mean rank of these trees, the share of lists that contain the gold tree, and the mean
    length of the lists. The second table shows how often the first tree is right, by its probability.

    \b
    Examples:
      spacy-incparse oracle en dev.mrg
      spacy-incparse oracle out/model-best dev.mrg --n 1,10,100 --output oracle.json
      spacy-incparse oracle lists.jsonl.gz dev.mrg
    """
    sizes = sorted(options.read_numbers("--n", n, example=SIZES))
    options.keep_inputs(output, treebank, prm, source if os.path.isfile(source) else None)
    params = COLLINS if prm is None else read_params(prm)
    settings: dict[str, Any] = {"source": source, "treebank": treebank, "gold_tags": gold_tags}
    if os.path.isfile(source):
        if gold_tags:
            raise IncparseError(f"--gold-tags needs a pipeline: the lists of {source} are already parsed")
        how: dict[str, Any] = {"skip_bad": skip_bad, "no_tags": no_tags, "dialect": dialect}
        gold = None if treebank is None else options.open_treebank(treebank, **how)
        lists = ((found, _first_probability(found.parses, found.temperature)) for found in read_lists(source, gold))
        report = _measure(lists, sizes, params, None if gold is None else len(gold))
        echo(report.format())
    else:
        from spacy_incparse.documents.live_parsers import deciding_parser

        if treebank is None:
            raise IncparseError(
                f"{source!r} is no file of n-best lists, so name a treebank to parse: oracle MODEL TREEBANK"
            )
        if sizes[-1] > N_ANALYSES:
            raise IncparseError(f"--n {sizes[-1]}: a pipeline's lists have at most {N_ANALYSES} trees")
        trees = _gold_trees(treebank, gold_tags=gold_tags, skip_bad=skip_bad, no_tags=no_tags, dialect=dialect)
        nlp, parser = options.open_pipeline(source)
        settings["temperature"] = deciding_parser(nlp).decoder.temperature
        report = _measure(_model_lists(nlp, parser, trees, sizes[-1], gold_tags), sizes, params, len(trees))
        echo(report.format())
        if report.n_lists < len(trees):
            n_left_out = f"{len(trees) - report.n_lists:,} of {len(trees):,} sentences"
            echo(f"left out because a word is whitespace: {n_left_out}", err=True)
    options.write_json(output, settings | report.to_dict())


def _measure(
    lists: Iterable[tuple[CandidateList, float | None]], sizes: Sequence[int], params: EvalbParams, n_lists: int | None
) -> OracleReport:
    """Return the oracle's figures of lists, with a progress bar; each has the probability of its first tree, if known.

    Raises IncparseError if a list has no gold tree.
    """
    oracle = Oracle(sizes, params)
    with options.progress_bar(total=n_lists, unit=" lists") as progress:
        for number, (found, probability) in enumerate(lists, start=1):
            if found.gold is None:
                raise IncparseError(
                    f"list {number} has no gold tree: also name the treebank, as in oracle LISTS TREEBANK"
                )
            oracle.add(found.gold, [parse.tree for parse in found.parses], probability)
            progress.update()
    return oracle.report()


def _model_lists(
    nlp: Language, component: TreePipe, trees: Sequence[Tree], n: int, gold_tags: bool
) -> Iterator[tuple[CandidateList, float | None]]:
    """Yield the n-best lists of a pipeline for the sentences of normalized trees, except those with a blank word.

    Each has the probability of its first tree among the trees of one search, as on a Doc, if there is a temperature. If
    the pipeline has a reranker, the lists are in its order.
    """
    from spacy_incparse.documents.live_parsers import deciding_parser

    analyser = deciding_parser(nlp)
    with tree_sentences(nlp, analyser, trees, gold_tags=gold_tags) as sentences:
        for tree, sentence in zip(trees, sentences, strict=True):
            if sentence is not None:
                parses, temperature = analyser.nbest_parses(sentence, None), analyser.decoder.temperature
                probability = _first_probability(parses, temperature) if temperature else None
                if len(parses) < n and analyser is component:  # a reranker has no more than it chooses from
                    parses = analyser.nbest_parses(sentence, n)
                yield CandidateList(tuple(parses), temperature or 1.0, tree), probability


def _first_probability(parses: Sequence[Parse], temperature: float) -> float | None:
    """Return the probability of the first tree; None if the parser failed."""
    if parses[0].source == "flat":
        return None
    return probabilities([parse.score for parse in parses], temperature)[0]


def _doc_of_tree(nlp: Language, tree: Tree, *, with_tags: bool) -> Doc:
    """Return a Doc of one sentence, with the words of a tree and perhaps its tags; empty words become blanks."""
    from spacy_incparse.pipeline.loading import one_sentence

    return one_sentence(nlp, [word or " " for word in tree.words], tree.tags if with_tags else None)


@contextmanager
def tree_sentences(
    nlp: Language, component: LiveParser, trees: Iterable[Tree], *, gold_tags: bool = False
) -> Iterator[Iterator[Sentence | None]]:
    """Give a component the sentences of the trees' words as those before the parsers leave them; no component parses.

    A sentence is None if one of its words is whitespace or empty, which is no word of a Doc. gold_tags: the component
    parses under the trees' tags as long as the context lasts.
    """
    from spacy_incparse.documents.live_parsers import names_from_parsers_on
    from spacy_incparse.pipeline.loading import SENTENCES, given

    def sentence(tree: Tree, doc: Doc) -> Sentence | None:
        sentences = component.sentences_of(doc)
        return sentences[0] if [tuple(sentence.words) for sentence in sentences] == [tree.words] else None

    annotations = SENTENCES | ({"token.tag"} if gold_tags else set())
    parsing = names_from_parsers_on(nlp)  # neither their trees are needed, nor a reranker's choice
    wanted, words = tee(trees)
    with given(nlp, annotations, "doc" if gold_tags else None), nlp.select_pipes(disable=parsing):
        docs = nlp.pipe(_doc_of_tree(nlp, tree, with_tags=gold_tags) for tree in words)
        yield map(sentence, wanted, docs)


@options.takes(
    gold=Argument(metavar="GOLD", help="Bracket file with the gold trees."),
    parsed=Argument(metavar="PARSED", help="Bracket file with a parser's trees, in the same order."),
    parsed2=Argument(metavar="[PARSED2]", help="Another parser's trees, for comparison."),
    as_evalb=Option("--as-evalb", help="Print exactly what the EVALB program prints, including its errors."),
    by_characters=Option(
        "--by-characters", help="Compare files with other words or sentences, character by character."
    ),
    bootstrap=Option("--bootstrap", min=0, metavar="N", help="Test the difference of two parsers on N samples."),
)
def score_command(
    gold: str, parsed: str, parsed2: str | None = None, prm: Path | None = None, as_evalb: bool = False,
    by_characters: bool = False, bootstrap: int = 0, skip_bad: bool = False, no_tags: bool = False,
    dialect: str | None = None, output: Path | None = None,
) -> None:  # fmt: skip
    """Score parsed trees against gold trees with EVALB's measures.

    The files are compared tree by tree, without normalization, and must have the same words. Without --as-evalb, every
    sentence counts: the gold tags decide what is punctuation on both sides. --skip-bad leaves a sentence out whose tree
    is malformed in any of the files. A line (()) of a parser's trees is a parse that failed, which costs recall.

    \b
    Examples:
      spacy-incparse score gold.mrg parsed.mrg
      spacy-incparse score gold.mrg mine.mrg theirs.mrg --bootstrap 1000 --output scores.json
    """
    if by_characters and (as_evalb or skip_bad):
        raise IncparseError("--by-characters excludes --as-evalb and --skip-bad: it needs the words of all trees")
    options.keep_inputs(output, gold, parsed, parsed2, prm)
    names = [path for path in (gold, parsed, parsed2) if path is not None]
    files, bad, n_sentences = list[dict[int, Any]](), set[int](), 0
    for path in names:
        log = SkipLog()
        how: dict[str, Any] = {"skip_bad": log if skip_bad else None, "tags": not no_tags}
        how["dialect"] = options.dialects(dialect)
        found = read_parses(path, n_sentences, **how) if files else dict(read_numbered_trees(path, **how))
        n_sentences = n_sentences if files else len(found) + log.n_trees
        bad |= set(range(1, len(found) + log.n_trees + 1)) - found.keys()
        files.append(found)
        if skip_bad:
            echo(str(log), err=True)
    kept = [number for number in files[0] if number not in bad]
    trees = [[tree for number, tree in found.items() if number not in bad] for found in files]
    params = COLLINS if prm is None else read_params(prm)
    try:
        report = report_scores(
            *trees, params=params, as_evalb=as_evalb, numbers=kept, by_characters=by_characters, n_bootstrap=bootstrap
        )
    except IncparseError as error:
        raise IncparseError(f"{', '.join(names)}: {error}") from None
    echo(report.format())
    options.write_json(output, report.to_dict())
