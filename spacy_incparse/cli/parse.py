"""`parse` and `annotate`: print the trees of texts, and write those of corpora on disk, shard by shard."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from itertools import groupby, islice, pairwise, zip_longest
from pathlib import Path
from shlex import quote
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

import srsly
from typer import Argument, Option, echo

from spacy_incparse.cli.options import (
    decoded,
    is_within,
    keep_inputs,
    one_of,
    open_pipeline,
    output_option,
    takes,
    write_lines,
)  # fmt: skip
from spacy_incparse.corpora.records import SHARD_CHARS, Counts, ShardRecord
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import write_bytes
from spacy_incparse.functions.dependencies import conllu_lines
from spacy_incparse.functions.tables import english
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.lists import LIST_WRITERS, CandidateList
from spacy_incparse.tokens import penn_to_raw, penn_to_text, raw_to_penn
from spacy_incparse.treebanks.formats import FORMATS, TreeOfFile, written
from spacy_incparse.treebanks.reader import GZIP_MAGIC
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.page import Entry, Picture, markup, page_pieces, side_by_side
from spacy_incparse.viz.svg import CAIRO_FORMATS, cairo_module, converted

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_incparse.corpora.annotate import RunWorkers
    from spacy_incparse.pipeline.tree_pipe import TreePipe

# Their scores are those of the parser, with the model's temperature, also if there is one tree: a Doc may have others.
_LISTS = ("lists", "bllip")
_TREEBANKS = {one.name: one for one in FORMATS if one.name != "conllu"}  # that one has heads, too
_LATEX = {"latex": "forest", "qtree": "qtree"}  # format -> package


@takes(
    text=Argument(metavar="[TEXT]", help="The text, in quotes; - reads standard input."),
    source=Option("--input", "-i", metavar="FILE|-", help="Read a file, plain or gzipped, or standard input (-)."),
    by_line=Option("--lines", help="Each line is a sentence."),
    tokenized=Option("--tokenized", help="Each line is a sentence with tokens separated by spaces."),
    tagged=Option("--tagged", help="Like --tokenized, with tags: word_TAG. Tags may be missing."),
    format_=one_of(
        "pretty penn json conllu conll export tiger discbracket draw svg html png pdf latex qtree lists bllip",
        "--format", "-f",
        help="Default: pretty on a terminal, otherwise penn.",
    ),
    ptb=Option("--ptb", help="Read and write words in Penn Treebank spelling: -LRB- ``."),
    output=output_option("FILE", "Write to this file instead of standard output."),
    nbest=Option("--nbest", min=1, metavar="K", help="Up to K trees per sentence, best first."),
    functions=Option("--functions", help="Add function tags, as in NP-SBJ."),
    empties=Option("--empties", help="Add empty categories with their antecedents, as in (NP (-NONE- *-1))."),
    n_process=Option("--n-process", min=1, metavar="N", help="Number of processes; lists are made in one."),
)  # fmt: skip
def parse_command(
    text: str | None = None, model: str = "en", source: str | None = None, by_line: bool = False,
    tokenized: bool = False, tagged: bool = False, format_: str | None = None, ptb: bool = False, nbest: int = 1,
    functions: bool = False, empties: bool = False, n_process: int = 1, output: Path | None = None,
) -> None:  # fmt: skip
    """Parse text and show the trees.

    Raw text is split into paragraphs at blank lines, and the pipeline splits paragraphs into sentences and words. With
    --lines, --tokenized or --tagged each line is a sentence, and an empty line has an empty line in the output. Trees
    are printed as soon as they are parsed. Formats: "penn" (one tree per line), "pretty" (indented), "json" (one object
    per line), "draw" (in characters), "html" (a page in which you can fold and search), "svg", "png" and "pdf" (one
    picture; the last two need cairosvg), "latex" (for the package forest), "qtree", "conllu" (CoNLL-U, with heads),
    treebanks' "conll" (of 2012), "export", "tiger" and "discbracket", and n-best lists for programs: "lists" (JSON
    lines) and "bllip" (the format of that parser).

    \b
    Examples:
      spacy-incparse parse "The cat that I saw was asleep."
      spacy-incparse parse --input book.txt --format json > book.jsonl
      spacy-incparse parse --input letter.txt --format html > letter.html
      echo "It rained ." | spacy-incparse parse --tokenized --nbest 3
      spacy-incparse parse --input letter.txt --nbest 50 --format lists > letter.jsonl
      echo "They can_VBP fish_NN ." | spacy-incparse parse --tagged
    """
    from spacy_incparse.pipeline.loading import SENTENCES, given, one_sentence

    name = format_ or ("pretty" if output is None and sys.stdout.isatty() else "penn")
    text, source = (None, "-") if (text, source) == ("-", None) else (text, source)
    keep_inputs(output, source)
    _check_picture(name, output)
    with _open(text, source) as opened:
        # A user at a terminal or a program at a pipe may wait for the trees of each text.
        batch_size = 1 if opened.isatty() or (n_process == 1 and not opened.seekable()) else None
        lines, texts = decoded(opened, source), cast("Iterable[Any]", ())
        lines = map(penn_to_text, lines) if ptb and not (tagged or tokenized) else lines
        n_trees = nbest if nbest > 1 or name in _LISTS else None
        nlp, parser = _pipeline(model, functions=functions, empties=empties, is_list=n_trees is not None)
        if tagged or tokenized:
            tags = parser.decoder.parser.tags if tagged else None
            texts = _line_docs(lines, nlp, tags, source or "the text", ptb=ptb)
        elif by_line:
            texts = map(partial(one_sentence, nlp), lines)
        else:
            texts = paragraphs(lines)
        known = (SENTENCES if tagged or tokenized or by_line else set()) | ({"token.tag"} if tagged else set())
        with given(nlp, known, "doc" if tagged else None):
            sentences = parse_texts(nlp, texts, nbest=n_trees, n_process=n_process, batch_size=batch_size)
            written = _written(name, sentences, nbest > 1, ptb, parser.decoder.model_parser.heads)
            if name in CAIRO_FORMATS:
                data = converted("".join(written), name)
                if output is None:
                    sys.stdout.buffer.write(data)
                else:
                    write_bytes(output, data)
            elif output is not None:
                write_lines(output, written)
            for line in written:
                echo(line)  # at once


def _pipeline(model: str, *, functions: bool, empties: bool, is_list: bool) -> tuple[Language, TreePipe]:
    """Return a pipeline that adds functions and empty categories if wanted, and its parser.

    Raises IncparseError if they are wanted for lists, which have none.
    """
    from spacy_incparse.pipeline.loading import add_functions

    nlp, parser = open_pipeline(model)
    if functions or empties:
        if is_list:
            raise IncparseError("--functions and --empties are for the best tree: leave out --nbest, or the lists")
        finder = add_functions(nlp, model)
        finder.functions, finder.empties = functions, empties
    return nlp, parser


def _check_picture(name: str, output: Path | None) -> None:
    """Raise IncparseError for a format of pictures that cannot be made, or would go to a terminal."""
    if name in CAIRO_FORMATS:
        cairo_module()
        if output is None and sys.stdout.isatty():
            raise IncparseError(f"--format {name} is not for a terminal: name a file with --output")


@contextmanager
def _open(text: str | None, source: str | None) -> Iterator[IO[bytes]]:
    """Open the text or file given by the arguments; gzip is detected from the file's content."""
    if text is not None and source is not None:
        raise IncparseError("pass either a text or --input, not both")
    if text is not None:
        if os.path.isfile(text):
            echo(f"Warning: {text!r} is parsed as a text; to parse the file, use --input {quote(text)}", err=True)
        yield io.BytesIO(text.encode("utf8", "surrogateescape"))
    elif source is not None and source != "-":
        with open(source, "rb") as file:
            is_gzipped = file.peek(2).startswith(GZIP_MAGIC)
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzipped else file
    elif source is None and sys.stdin.isatty():
        raise IncparseError(
            "there is nothing to parse: pass a text in quotes, or --input FILE (--input - to type it in)"
        )
    else:
        yield sys.stdin.buffer


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence with its analyses, best first; the words are those of the trees. A line without words has none."""

    paragraph: int  # from 1; where each line is a sentence, the number of the line
    start: int  # first character in the paragraph
    text: str  # from its first word to its last
    char_starts: Sequence[int] = ()  # of each word in `text`
    char_ends: Sequence[int] = ()
    parses: Sequence[Parse] = ()
    temperature: float | None = None  # of the model, if the analyses come from it


_SENTENCE_END = re.compile(r"[.!?…。][\"'”’»)\]]*$")


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield the texts between blank lines, with their line breaks: the pipeline judges which of them end a sentence.

    If there is only one and its lines seem to be sentences, a hint on standard error names the option for them.
    """
    number, paragraph = 0, list[str]()
    for is_blank, group in groupby(lines, lambda line: not line or line.isspace()):
        if not is_blank:
            number, paragraph = number + 1, list(group)
            yield "\n".join(paragraph)
    if number == 1:
        _hint_at_lines(paragraph, "the text", "a sentence, pass --lines")


def _hint_at_lines(lines: Sequence[str], name: str, advice: str) -> None:
    """Say on standard error if the lines of a text are likely to be sentences, and not broken where they were full."""
    lines = [line.strip() for line in lines]
    if len(lines) < 2 or not all(lines):
        return
    width, begin_in_lower_case = max(map(len, lines)), {line.lstrip("\"'“‘«([")[:1].islower() for line in lines}
    n_with_room = sum(len(line) + 1 + len(after.split(maxsplit=1)[0]) <= width for line, after in pairwise(lines))
    are_alike = len(begin_in_lower_case) == 1 and not any(line[-1] in ",;:–—-" for line in lines)
    if all(map(_SENTENCE_END.search, lines)) or (are_alike and 2 * n_with_room >= len(lines) - 1):
        echo(f"Hint: {name} has a line for each sentence, it seems, and no blank line: if each is {advice}", err=True)


def parse_texts(
    nlp: Language, texts: Iterable[str | Doc], *, nbest: int | None = None, n_process: int = 1,
    batch_size: int | None = None,
) -> Iterator[ParsedSentence]:  # fmt: skip
    """Yield the sentences of texts in order, each with up to `nbest` analyses by the pipeline's last parser.

    If that is a reranker, the analyses are in its order. Without `nbest`, each has the tree and the score on its Doc.
    """
    from spacy_incparse.documents.live_parsers import deciding_parser, names_from_parsers_on
    from spacy_incparse.documents.storage import AnchoredTree, anchored_trees

    analyser = None if nbest is None else deciding_parser(nlp)
    # A Doc has one tree per sentence: the other trees come from the parser itself, after the components before it.
    with nullcontext() if analyser is None else nlp.select_pipes(disable=names_from_parsers_on(nlp)):
        for number, doc in enumerate(_stream(nlp, texts, n_process, batch_size), start=1):
            text, is_empty = doc.text, True
            for found in analyser.sentences_of(doc) if analyser else anchored_trees(doc):
                is_empty = False
                if isinstance(found, AnchoredTree):
                    before, temperature = found.start_char, None
                    parses = [Parse(found.tree, found.score or 0.0, found.source)]
                else:
                    assert analyser is not None
                    before, temperature = 0, analyser.decoder.temperature
                    parses = analyser.nbest_parses(found, nbest)
                start, first = before + found.char_starts[0], found.char_starts[0]
                starts, ends = [[char - first for char in chars] for chars in (found.char_starts, found.char_ends)]
                yield ParsedSentence(number, start, text[start : start + ends[-1]], starts, ends, parses, temperature)
            if is_empty:
                yield ParsedSentence(number, 0, "")


_INTERRUPT_SECONDS = 1.0  # the time for an interrupt that has reached the workers to arrive here
_WORKER_BATCH = 100  # texts sent to a worker process at once: those in progress when the stream ends are wasted


def _stream(nlp: Language, texts: Iterable[str | Doc], n_process: int, batch_size: int | None) -> Iterator[Doc]:
    """Yield the Docs of `nlp.pipe`; an error in `texts` is raised after the Docs of all texts before it.

    If `nlp.pipe` is closed while its workers still have output, it deadlocks: it waits for the workers, and they wait
    for a reader. This function therefore stops sending texts and consumes the Docs in progress.
    """
    is_open, text_error = True, None

    def until_error() -> Iterator[str | Doc]:
        nonlocal text_error
        try:
            for text in texts:
                yield text
                if not is_open:
                    return
        except Exception as error:
            text_error = error

    if n_process > 1:
        docs = _with_quiet_workers(nlp.pipe(until_error(), n_process=n_process, batch_size=batch_size or _WORKER_BATCH))
    else:
        docs = nlp.pipe(until_error(), batch_size=batch_size)
    try:
        # `yield from` would close `docs` too early.
        for doc in docs:  # noqa: UP028
            yield doc
    except GeneratorExit:
        is_open = False
        with suppress(EOFError, OSError):  # from interrupted workers
            deque(docs, maxlen=0)
        raise
    except (EOFError, OSError) as error:
        if n_process == 1:
            raise
        time.sleep(_INTERRUPT_SECONDS)  # a signal that interrupted the workers was sent to this process, too: it comes
        raise IncparseError("a worker process ended unexpectedly: is there enough memory for all of them?") from error
    if text_error is not None:
        raise text_error


def _with_quiet_workers(docs: Iterator[Doc]) -> Iterator[Doc]:
    """Make the workers, which start with the first Doc, end without a traceback when the user interrupts them."""
    if threading.current_thread() is threading.main_thread():
        handler = signal.signal(signal.SIGINT, signal.SIG_DFL)  # inherited by forked processes
        try:
            first = next(docs, None)
        finally:
            signal.signal(signal.SIGINT, handler)
        if first is not None:
            yield first
    yield from docs


# The last underscore separates word and tag. A word alone has no tag; underscores in it, and backslashes before an
# underscore, are then escaped with a backslash, as in `snake\_case`.

_UNDERSCORE = re.compile(r"(\\*)_")


def _line_docs(
    lines: Iterable[str], nlp: Language, tags: Sequence[str] | None, place: str, *, ptb: bool
) -> Iterator[Doc]:
    """Yield a Doc for each line, with one sentence if it has words.

    tags: those that the model knows, if words have tags, which then become token.tag_. place: the source of the lines.
    ptb: words are in Penn spelling. Raises IncparseError for an unknown tag or a tag without a word, with place, line
    and word.
    """
    from spacy_incparse.pipeline.loading import one_sentence

    known = frozenset(tags or ())
    for number, line in enumerate(lines, start=1):
        found = re.findall(r"[^ \t\f\v\r]+", line)  # a no-break space is part of a word, as in treebanks
        tokens = [(token, "") if tags is None else split_tag(token) for token in found]
        for word, tag in tokens:
            if not word:
                raise IncparseError(
                    f"{place}:{number}: the word before the tag is missing in '_{tag}': write '\\_' for an underscore"
                )
            if tag and tag not in known:
                near = get_close_matches(tag.upper(), tags or (), n=8, cutoff=0.5) or list(tags or ())[:5]
                raise IncparseError(
                    f"{place}:{number}: the word {word!r} has the tag {tag!r}, which the model does not know (it knows "
                    f"{', '.join(near)}, ...); in a word without a tag, write an underscore as '\\_'"
                )
        words = [penn_to_raw(word, tag or None) if ptb else word for word, tag in tokens]
        yield one_sentence(nlp, words, None if tags is None else [tag for _, tag in tokens])


def split_tag(token: str) -> tuple[str, str]:
    """Return the word and the tag of a token; the tag is "" if none is given."""
    if token == "_":
        return token, ""
    separators = [match.end() - 1 for match in _UNDERSCORE.finditer(token) if len(match[1]) % 2 == 0]
    if not separators:
        return _unescaped(token), ""
    last = separators[-1]
    return _unescaped(token[: last + 1])[:-1], token[last + 1 :]


def _unescaped(text: str) -> str:
    """Remove every second backslash before an underscore, and a single one."""
    return _UNDERSCORE.sub(lambda match: "\\" * (len(match[1]) // 2) + "_", text)


def _written(
    name: str, sentences: Iterable[ParsedSentence], is_list: bool, ptb: bool, heads: HeadRules
) -> Iterator[str]:
    """Yield sentences in the named format; is_list: with all their analyses; ptb: in Penn spelling; heads: for CoNLL-U.

    A line without words is an empty line in "penn", null in JSON, and a number that is not printed elsewhere.
    """

    def row(sentence: ParsedSentence) -> list[Entry]:
        whole = [parse.tree.with_empties() for parse in sentence.parses]
        trees = list(map(_penn_spelling, whole)) if ptb else whole
        if not is_list:
            return [Entry(trees[0])]
        captions = [f"{rank} · score {parse.score:.6g}" for rank, parse in enumerate(sentence.parses, start=1)]
        return side_by_side(trees, captions)

    if name in ("svg", "html", *CAIRO_FORMATS):
        rows = (row(one) for one in sentences if one.parses)
        pieces = page_pieces((Picture([one]) for one in rows), "tree")  # each tree as soon as it is parsed
        yield from pieces if name == "html" else [markup(Picture(list(rows)), "tree")]
        return
    if name in _TREEBANKS:
        if is_list:
            raise IncparseError(f"--format {name} has a tree for each sentence: omit --nbest")
        yield from _treebank(name, sentences)
        return
    width = shutil.get_terminal_size().columns
    for number, sentence in enumerate(sentences, start=1):
        if name == "json":
            yield json_line(number, sentence, is_list, ptb)
        elif not sentence.parses:
            if name == "lists":
                yield srsly.json_dumps({"sent": number, "nbest": None})
            elif name == "penn" and not is_list:
                yield ""
        elif name in _LISTS:
            candidates = CandidateList(tuple(sentence.parses), sentence.temperature or 1.0)
            yield from LIST_WRITERS["json" if name == "lists" else name](candidates, number)
        else:
            for rank, parse in enumerate(sentence.parses, start=1):
                if is_list:  # a line that identifies the tree, a comment in bracket files
                    yield f"{'%' if name in _LATEX else '#'} sent {number} parse {rank} score {parse.score:.6g}"
                whole = parse.tree.with_empties()
                shown = _penn_spelling(whole) if ptb else whole
                if name == "conllu":
                    yield from _conllu(number, sentence, parse.tree, ptb, heads)
                elif name == "draw":
                    yield shown.draw(width=width) + "\n"
                elif name in _LATEX:
                    yield shown.to_latex(_LATEX[name])
                else:
                    tree = whole.to_string(width=width if name == "pretty" else None, ptb=ptb)
                    yield f"{tree}\n" if name == "pretty" else tree


def _treebank(name: str, sentences: Iterable[ParsedSentence]) -> Iterator[str]:
    found = (TreeOfFile(one.parses[0].tree.with_empties()) for one in sentences if one.parses)
    return (piece.removesuffix("\n") for piece in written(found, _TREEBANKS[name]) if piece)


def _conllu(number: int, sentence: ParsedSentence, tree: Tree, ptb: bool, heads: HeadRules) -> Iterator[str]:
    no_space = [start == end for start, end in zip_longest(sentence.char_starts[1:], sentence.char_ends)]
    words = raw_to_penn(tree.words, tree.tags) if ptb else tree.words
    yield f"# sent_id = {number}"
    yield f"# text = {' '.join(sentence.text.split())}"
    yield from conllu_lines(tree.arrays, words, no_space, heads, english())
    yield ""


def json_line(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> str:
    """Return one object on one line; in a list, "nbest" contains all analyses."""

    def span(node: Tree) -> dict[str, Any]:
        bounds = {"label": node.label, "start": node.start, "end": node.end}
        return bounds | ({"function": node.function} if node.function else {})

    def analysis(parse: Parse) -> dict[str, Any]:
        return {
            "tree": parse.tree.with_empties().to_string(ptb=ptb),
            "spans": [span(node) for node in parse.tree.phrases()],
            "score": parse.score,
            "source": parse.source,
        }

    analyses = list(map(analysis, sentence.parses))
    best = sentence.parses[0].tree if analyses else None
    bounds = zip(best.words, sentence.char_starts, sentence.char_ends, best.tags, strict=True) if best else ()
    content: dict[str, Any] = {
        "sent": number,
        "paragraph": sentence.paragraph,
        "start": sentence.start,
        "text": sentence.text,
        "tokens": [{"text": word, "start": start, "end": end, "tag": tag} for word, start, end, tag in bounds],
        **(analyses[0] if analyses else {"tree": None}),
    }
    if is_list:
        content |= {"temperature": sentence.temperature, "nbest": analyses or None}
    return srsly.json_dumps(content)


def _penn_spelling(tree: Tree) -> Tree:
    """Return the tree with its words in Penn Treebank spelling, for pictures; brackets escape raw words."""
    arrays = tree.root.arrays
    return Tree(TreeArrays.of(arrays.labels, arrays.sizes, raw_to_penn(tree.words, tree.tags)))


@takes(
    paths=Argument(metavar="INPUT... OUTPUT", help="Files, folders and globs to read; the folder to write."),
    output_format=one_of("parquet jsonl brackets docbin", "--format", "-f", help="What is written."),
    input_format=Option(
        "--input-format",
        metavar="FORMAT",
        help="text, lines, jsonl, csv, tsv, conllu or parquet. Default: by file name.",
    ),
    id_field=Option("--id-field", metavar="NAME", help="Field or column with the id."),
    n_process=Option("--n-process", min=1, metavar="N", help="Number of processes, or of Ray's actors."),
    ray=Option("--ray", metavar="[ADDRESS]", help="Use a Ray cluster: its address; local, the default, starts one."),
    code=Option("--code", "-c", metavar="FILE.py", help="Python code with the pipeline's components."),
    shard_chars=Option("--shard-chars", min=1, metavar="N", help="Characters of a shard of documents."),
    ptb=Option("--ptb", help="Words are in Penn Treebank spelling, such as -LRB-, and become raw ones."),
    complexity=Option("--complexity", help="Also write a table of measures of syntactic complexity by document."),
    relations=Option("--relations", help="Also write a table of grammatical relations (English)."),
    overwrite=Option("--overwrite", help="Replace an output that was made from something else."),
)
def annotate_command(
    paths: list[str], model: str = "en", output_format: str = "parquet", input_format: str = "auto",
    text_field: str = "text", id_field: str = "id", separator: str | None = None, n_process: int | None = None,
    ray: str | None = None, code: Path | None = None, shard_chars: int = SHARD_CHARS, ptb: bool = False,
    complexity: bool = False, relations: bool = False, overwrite: bool = False,
) -> None:  # fmt: skip
    """Parse corpora on disk, and write them with their trees.

    Texts (.txt: a document for each file), .jsonl, .csv, .tsv, .conllu and .parquet are read, also with .gz, .bz2 or
    .xz. The output is a folder of shards. Interrupted or killed, the same command goes on where it stopped. Documents
    that fail are put aside in OUTPUT/failed.

    \b
    Examples:
      spacy-incparse annotate books/ parsed/ --n-process 4
      spacy-incparse annotate "news/*.jsonl.gz" parsed/ --text-field body --format jsonl
      spacy-incparse annotate tweets.txt.xz trees/ --input-format lines --format brackets
    """
    # Imported here, so that the other commands start faster.
    from spacy_incparse.corpora.annotate import Job, annotate
    from spacy_incparse.corpora.readers import SUFFIXES, Fields, InputFile, find_reader, input_files, reader_of
    from spacy_incparse.workers import run_in_workers

    *inputs, folder = paths
    if not inputs:
        raise IncparseError(f"what to read or where to write is missing: only {folder!r} is given")
    reader, output = find_reader(input_format), Path(folder)
    suffixes = SUFFIXES if reader is None else {*SUFFIXES, *reader.suffixes}
    files = tuple(input_files(inputs, suffixes, any_suffix=reader is not None))
    more = Fields(text_field, id_field, separator), code, shard_chars, ptb, complexity, relations
    job = Job(files, output, model, input_format, output_format, *more)
    if output.is_file():
        raise IncparseError(f"{output} is a file: the last argument is the folder to write")
    if inside := [path for path in inputs if is_within(output, path)]:
        raise IncparseError(
            f"the output {output} is inside the input {inside[0]}, and would be read as input next time"
        )
    if any(file.resolve().is_relative_to(output.resolve()) for file in files):
        raise IncparseError(f"the input is inside the output {output}: name another folder")
    run_workers: RunWorkers = partial(run_in_workers, n_process=n_process or 1)
    if ray is not None:
        from spacy_incparse.ray import run_with_ray

        run_workers = run_with_ray(ray, n_process)
    if text_file := next((file for file in files if reader_of(file, reader).name == "text"), None):
        with suppress(Exception):  # what is damaged is told when all of it is read
            lines = [line.decode() for line in islice(InputFile(text_file).lines(), 1000)]
            _hint_at_lines(lines, str(text_file), "a document, pass --input-format lines")
    with AnnotationProgress(sum(path.stat().st_size for path in files)) as progress:
        try:
            counts = annotate(job, run_workers, progress, overwrite=overwrite)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"the same command goes on where {output} stops") from None
    sizes = _count(counts.documents, "document"), _count(counts.sentences, "sentence"), _count(counts.words, "word")
    text = f"{output}: {', '.join(sizes)} with trees"
    if counts.flat:
        text += f"; flat trees, because the parser failed: {_count(counts.flat, 'sentence')}"
    if counts.failed:
        text += f"; put aside in {output / 'failed'}: {_count(counts.failed, 'document')}"
    echo(text)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


_LOG_SECONDS = 60.0


class AnnotationProgress:
    """Shows words, words per second of this run, the time left, and how many documents were put aside.

    total: bytes of all input files. The time left is that of the bytes that have not been read, at the speed of this
    run; what an earlier run has finished counts as done, but not for the speed.
    """

    def __init__(self, total: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self._total, self._stream, self._clock = total, stream or sys.stderr, clock
        self._is_terminal = self._stream.isatty()
        self._started = self._shown = clock()
        self._n_shards = self._n_bytes = self._new_bytes = self._new_words = self._width = 0
        self._counts = Counts()

    def __enter__(self) -> AnnotationProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal and self._width:
            print(f"\r{'':{self._width}}\r", end="", file=self._stream, flush=True)

    def __call__(self, n_bytes: int, record: ShardRecord, *, is_new: bool) -> None:
        """Note a shard with these bytes of the input; not `is_new`: an earlier run has finished it."""
        self._n_shards += 1
        self._n_bytes += n_bytes
        self._counts.add(record.counts)
        if is_new:
            self._new_bytes += n_bytes
            self._new_words += record.counts.words
        if self._is_terminal:
            line = self.line()
            print(f"\r{line:<{self._width}}", end="", file=self._stream, flush=True)
            self._width = len(line)
        elif self._clock() - self._shown >= _LOG_SECONDS:
            self._shown = self._clock()
            print(self.line(), file=self._stream, flush=True)

    def line(self) -> str:
        """Return the state in words."""
        seconds = max(self._clock() - self._started, 1e-9)
        percent = 100 * self._n_bytes / max(self._total, 1)
        text = f"{percent:.0f} %, {self._n_shards:,} shards, {self._counts.words:,} words"
        if self._new_bytes:
            n_left = max(self._total - self._n_bytes, 0)
            time_left = timedelta(seconds=round(n_left / self._new_bytes * seconds))
            text += f", {self._new_words / seconds:,.0f} words/s, {time_left} left"
        return text + (f", {self._counts.failed:,} documents put aside" if self._counts.failed else "")
