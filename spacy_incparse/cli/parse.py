"""`parse`: parse text and print the trees."""

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
from difflib import get_close_matches
from enum import Enum
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import srsly
import typer

from spacy_incparse.cli.options import Model, decoded, open_pipeline
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.lists import LIST_WRITERS, CandidateList
from spacy_incparse.tokens import penn_to_raw, raw_to_penn
from spacy_incparse.treebanks.reader import GZIP_MAGIC
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.page import Entry, Picture, markup, page_pieces, side_by_side

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from spacy_incparse.documents.live_parsers import LiveParser
    from spacy_incparse.documents.sentences import Sentence
    from spacy_incparse.documents.storage import AnchoredTree

# Their scores are those of the parser, with the model's temperature, also if there is one tree: a Doc may have others.
_LISTS = ("lists", "bllip")


class Format(str, Enum):
    """The output formats."""

    pretty = "pretty"
    penn = "penn"
    json = "json"
    draw = "draw"
    svg = "svg"
    html = "html"
    lists = "lists"
    bllip = "bllip"


def parse_command(
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The text, in quotes.")] = None,
    model: Model = "en",
    source: Annotated[
        str | None,
        typer.Option("--input", "-i", metavar="FILE|-", help="Read a file, plain or gzipped, or standard input (-)."),
    ] = None,
    tokenized: Annotated[
        bool, typer.Option("--tokenized", help="Each line is a sentence with tokens separated by spaces.")
    ] = False,
    tagged: Annotated[
        bool, typer.Option("--tagged", help="Like --tokenized, with tags: word_TAG. Tags may be missing.")
    ] = False,
    format_: Annotated[
        Format | None, typer.Option("--format", "-f", help="Default: pretty on a terminal, otherwise penn.")
    ] = None,
    ptb: Annotated[
        bool, typer.Option("--ptb", help="Read (--tokenized) and write words in Penn Treebank spelling: -LRB- ``.")
    ] = False,
    nbest: Annotated[
        int, typer.Option("--nbest", min=1, metavar="K", help="Up to K trees per sentence, best first.")
    ] = 1,
    n_process: Annotated[
        int, typer.Option("--n-process", min=1, metavar="N", help="Number of processes; lists are made in one.")
    ] = 1,
) -> None:
    """Parse text and show the trees.

    Raw text is split into paragraphs at blank lines, and the pipeline splits paragraphs into sentences and words. Trees
    are printed as soon as they are parsed. Formats: "penn" (one tree per line), "pretty" (indented), "json" (one object
    per line), "draw" (in characters), "svg" (one picture) and "html" (a page in which you can fold and search).
    For n-best lists in files there are "lists" (JSON lines) and "bllip" (the format of that parser).

    \b
    Examples:
      spacy-incparse parse "The cat that I saw was asleep."
      spacy-incparse parse --input book.txt --format json > book.jsonl
      spacy-incparse parse --input letter.txt --format html > letter.html
      echo "It rained ." | spacy-incparse parse --tokenized --nbest 3
      spacy-incparse parse --input letter.txt --nbest 50 --format lists > letter.jsonl
      echo "They can_VBP fish_NN ." | spacy-incparse parse --tagged
    """
    name = (format_ or (Format.pretty if sys.stdout.isatty() else Format.penn)).value
    with _open(text, source) as lines:
        for line in parse(
            decoded(lines, source), model, find_writer(name), tokenized=tokenized, tagged=tagged, ptb=ptb,
            nbest=nbest if nbest > 1 or name in _LISTS else None, n_process=n_process,
            batch_size=_batch_size(lines, n_process), place=source or "the text",
        ):  # fmt: skip
            typer.echo(line)


def parse(
    lines: Iterable[str],
    model: str,
    writer: Writer,
    *,
    tokenized: bool = False,
    tagged: bool = False,
    ptb: bool = False,
    nbest: int | None = None,
    n_process: int = 1,
    batch_size: int | None = None,
    place: str = "the text",
) -> Iterator[str]:
    """Yield the output of `writer` for the sentences in lines of text; the other arguments are as in the command.

    nbest: the most trees of a sentence; None: the tree on the Doc. place: the source of the lines, for messages.
    """
    from spacy_incparse.pipeline.plain_parser import given

    nlp, parser = open_pipeline(model)
    texts: Iterable[Any]
    if tagged:
        texts = tagged_docs(lines, nlp.vocab, parser.decoder.parser.tags, place, ptb=ptb)
    else:
        texts = tokenized_docs(lines, nlp.vocab, ptb=ptb) if tokenized else paragraphs(lines)
    with given(nlp, {"token.tag"}, "doc") if tagged else nullcontext():
        sentences = parse_texts(nlp, texts, nbest=nbest, n_process=n_process, batch_size=batch_size)
        yield from writer(sentences, (nbest or 1) > 1, ptb)


def _batch_size(lines: IO[bytes], n_process: int) -> int | None:
    """Return 1 for a terminal or a pipe, whose user or program may wait for the trees of each text."""
    return 1 if lines.isatty() or (n_process == 1 and not lines.seekable()) else None


@contextmanager
def _open(text: str | None, source: str | None) -> Iterator[IO[bytes]]:
    """Open the text or file given by the arguments; gzip is detected from the file's content."""
    if text is not None and source is not None:
        raise IncparseError("pass either a text or --input, not both")
    if text is not None:
        if os.path.isfile(text):
            typer.echo(f"Warning: {text!r} is parsed as a text; to parse the file, use --input {text}", err=True)
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
    """A sentence with its analyses, best first; the words are those of the trees."""

    paragraph: int  # from 1; for tokenized input, the number of the sentence
    start: int  # first character in the paragraph
    text: str
    char_starts: Sequence[int]  # of each word in `text`
    char_ends: Sequence[int]
    parses: Sequence[Parse]
    temperature: float | None = None  # of the model, if the analyses come from it


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Join lines into paragraphs, which end at blank lines; newlines become spaces."""
    paragraph: list[str] = []
    for line in lines:
        if line and not line.isspace():
            paragraph.append(line)
        elif paragraph:
            yield " ".join(paragraph)
            paragraph = []
    if paragraph:
        yield " ".join(paragraph)


def split_words(line: str) -> list[str]:
    """Split a line at blanks. A no-break space is part of a word, as in treebanks."""
    return [word for word in re.split(r"[ \t\f\v\r]+", line) if word]


def tokenized_docs(lines: Iterable[str], vocab: Vocab, *, ptb: bool = False) -> Iterator[Doc]:
    """Yield a Doc with one sentence for each line that has words; with `ptb`, they are in Penn spelling."""

    from spacy.tokens import Doc

    for line in lines:
        words = [penn_to_raw(word) if ptb else word for word in split_words(line)]
        if words:
            starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
            yield Doc(vocab, words=words, sent_starts=starts)


def parse_texts(
    nlp: Language,
    texts: Iterable[str | Doc],
    *,
    nbest: int | None = None,
    n_process: int = 1,
    batch_size: int | None = None,
) -> Iterator[ParsedSentence]:
    """Yield the sentences of texts in order, each with up to `nbest` analyses by the pipeline's last parser.

    If that is a reranker, the analyses are in its order. Without `nbest`, each has the tree and the score on its Doc.
    """

    from spacy_incparse.documents.live_parsers import deciding_parser, names_from_parsers_on
    from spacy_incparse.documents.storage import anchored_trees

    if nbest is None:
        for number, doc in enumerate(stream(nlp, texts, n_process=n_process, batch_size=batch_size), start=1):
            text = doc.text
            yield from (_stored(number, text, tree) for tree in anchored_trees(doc))
        return
    # A Doc has one tree per sentence: the other trees come from the parser itself, after the components before it.
    analyser = deciding_parser(nlp)
    with nlp.select_pipes(disable=names_from_parsers_on(nlp)):
        for number, doc in enumerate(stream(nlp, texts, n_process=n_process, batch_size=batch_size), start=1):
            text = doc.text
            yield from (_analysed(number, text, analyser, sentence, nbest) for sentence in analyser.sentences_of(doc))


def _stored(number: int, text: str, found: AnchoredTree) -> ParsedSentence:
    parse = Parse(found.tree, found.score or 0.0, found.source)
    cut = text[found.start_char : found.end_char]
    return ParsedSentence(number, found.start_char, cut, found.char_starts, found.char_ends, [parse])


def _analysed(number: int, text: str, component: LiveParser, sentence: Sentence, k: int) -> ParsedSentence:
    start = sentence.start_char
    return ParsedSentence(
        number,
        start,
        text[start : sentence.end_char],
        [offset - start for offset in sentence.char_starts],
        [offset - start for offset in sentence.char_ends],
        component.nbest_parses(sentence, k),
        component.decoder.temperature,
    )


# The sentences, whether each has a list of analyses, Penn spelling -> pieces of output
Writer = Callable[[Iterable["ParsedSentence"], bool, bool], Iterator[str]]


def find_writer(name: str) -> Writer:
    """Return the function that writes sentences in the named format."""
    return {"svg": write_svg, "html": write_page}.get(name) or _by_sentence(name)


def write_svg(sentences: Iterable[ParsedSentence], is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one SVG document with one row per sentence and its analyses side by side."""
    yield markup(Picture([_row(sentence, is_list, ptb) for sentence in sentences]), "tree")


def write_page(sentences: Iterable[ParsedSentence], is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield an HTML page in which users can fold and search trees; each tree as soon as it is parsed."""
    yield from page_pieces((Picture([_row(sentence, is_list, ptb)]) for sentence in sentences), "tree")


def _row(sentence: ParsedSentence, is_list: bool, ptb: bool) -> list[Entry]:
    trees = [penn_spelling(parse.tree) if ptb else parse.tree for parse in sentence.parses]
    if not is_list:
        return [Entry(trees[0])]
    captions = [f"{rank} · score {parse.score:.6g}" for rank, parse in enumerate(sentence.parses, start=1)]
    return side_by_side(trees, captions)


def _by_sentence(name: str) -> Writer:
    write = SENTENCE_WRITERS[name]

    def write_all(sentences: Iterable[ParsedSentence], is_list: bool, ptb: bool) -> Iterator[str]:
        for number, sentence in enumerate(sentences, start=1):
            yield from write(number, sentence, is_list, ptb)

    return write_all


INTERRUPT_SECONDS = 1.0  # the time for an interrupt that has reached the workers to arrive here
WORKER_BATCH = 100  # texts sent to a worker process at once: those in progress when the stream ends are wasted


def stream(
    nlp: Language, texts: Iterable[str | Doc], *, n_process: int = 1, batch_size: int | None = None
) -> Iterator[Doc]:
    """Yield the Docs of `nlp.pipe`; an error in `texts` is raised after the Docs of all texts before it.

    If `nlp.pipe` is closed while its workers still have output, it deadlocks: it waits for the workers, and they wait
    for a reader. This function therefore stops sending texts and consumes the Docs in progress.
    """
    source = _Source(texts)
    if n_process > 1:
        docs = _with_quiet_workers(nlp.pipe(source, n_process=n_process, batch_size=batch_size or WORKER_BATCH))
    else:
        docs = nlp.pipe(source, batch_size=batch_size)
    try:
        # `yield from` would close `docs` too early.
        for doc in docs:  # noqa: UP028
            yield doc
    except GeneratorExit:
        source.is_open = False
        with suppress(EOFError, OSError):  # from interrupted workers
            deque(docs, maxlen=0)
        raise
    except (EOFError, OSError) as error:
        if n_process == 1:
            raise
        time.sleep(INTERRUPT_SECONDS)  # a signal that interrupted the workers was also sent to this process: it arrives
        raise IncparseError("a worker process ended unexpectedly: is there enough memory for all of them?") from error
    if source.error is not None:
        raise source.error


class _Source:
    """An iterator that stops at an error and stores it."""

    def __init__(self, texts: Iterable[str | Doc]):
        self._texts = iter(texts)
        self.is_open = True
        self.error: Exception | None = None

    def __iter__(self) -> _Source:
        return self

    def __next__(self) -> str | Doc:
        if not self.is_open:
            raise StopIteration
        try:
            return next(self._texts)
        except StopIteration:
            pass
        except Exception as error:
            self.error = error
        self.is_open = False
        raise StopIteration


def _with_quiet_workers(docs: Iterator[Doc]) -> Iterator[Doc]:
    """Make the workers, which start with the first Doc, end without a traceback when the user interrupts them."""
    if threading.current_thread() is not threading.main_thread():
        yield from docs
        return
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


def tagged_docs(
    lines: Iterable[str], vocab: Vocab, tags: Sequence[str], place: str, *, ptb: bool = False
) -> Iterator[Doc]:
    """Yield a Doc with one sentence for each line that has words, with token.tag_ set if a tag is given.

    tags: the tags that the model knows. place: the source of the lines. Raises IncparseError for an unknown tag or a
    tag without a word, with place, line and word.
    """

    from spacy.tokens import Doc

    known = frozenset(tags)
    for number, line in enumerate(lines, start=1):
        tokens = [split_tag(token) for token in split_words(line)]
        for word, tag in tokens:
            if not word:
                raise IncparseError(
                    f"{place}:{number}: the word before the tag is missing in '_{tag}': write '\\_' for an underscore"
                )
            if tag and tag not in known:
                raise IncparseError(f"{place}:{number}: {_unknown(word, tag, tags)}")
        if tokens:
            words = [penn_to_raw(word, tag or None) if ptb else word for word, tag in tokens]
            starts: list[bool | int | None] = [i == 0 for i in range(len(words))]
            yield Doc(vocab, words=words, tags=[tag for _, tag in tokens], sent_starts=starts)


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


def _unknown(word: str, tag: str, tags: Sequence[str]) -> str:
    near = get_close_matches(tag.upper(), tags, n=8, cutoff=0.5) or list(tags[:5])
    return (
        f"the word {word!r} has the tag {tag!r}, which the model does not know (it knows {', '.join(near)}, ...); "
        f"in a word without a tag, write an underscore as '\\_'"
    )


# Number of the sentence (from 1), the sentence, whether to list its analyses, Penn spelling -> pieces of output
SentenceWriter = Callable[[int, "ParsedSentence", bool, bool], Iterator[str]]


def write_penn(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one tree per line; in a list, each follows a line that identifies it, a comment in bracket files."""
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield parse.tree.to_string(ptb=ptb)


def write_pretty(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield indented trees as wide as the terminal, each followed by an empty line."""
    width = shutil.get_terminal_size().columns
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield parse.tree.to_string(width=width, ptb=ptb) + "\n"


def write_drawing(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield trees drawn in characters, as wide as the terminal, each followed by an empty line."""
    width = shutil.get_terminal_size().columns
    for rank, parse in enumerate(sentence.parses, start=1):
        if is_list:
            yield _heading(number, rank, parse)
        yield (penn_spelling(parse.tree) if ptb else parse.tree).draw(width=width) + "\n"


def write_json(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield one object on one line; in a list, "nbest" contains all analyses."""
    best = sentence.parses[0]
    bounds = zip(best.tree.words, sentence.char_starts, sentence.char_ends, best.tree.tags, strict=True)
    content: dict[str, Any] = {
        "sent": number,
        "paragraph": sentence.paragraph,
        "start": sentence.start,
        "text": sentence.text,
        "tokens": [{"text": word, "start": start, "end": end, "tag": tag} for word, start, end, tag in bounds],
        **_analysis(best, ptb),
    }
    if is_list:
        content["temperature"] = sentence.temperature
        content["nbest"] = [_analysis(parse, ptb) for parse in sentence.parses]
    yield srsly.json_dumps(content)


def write_list(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield the line of an n-best list, as `rerank.list_files` reads it; words are raw."""
    return LIST_WRITERS["json"](_candidates(sentence), number)


def write_bllip(number: int, sentence: ParsedSentence, is_list: bool, ptb: bool) -> Iterator[str]:
    """Yield the lines of an n-best list in the format of BLLIP; words are in Penn spelling."""
    return LIST_WRITERS["bllip"](_candidates(sentence), number)


SENTENCE_WRITERS: dict[str, SentenceWriter] = {
    "pretty": write_pretty,
    "penn": write_penn,
    "json": write_json,
    "draw": write_drawing,
    "lists": write_list,
    "bllip": write_bllip,
}


def penn_spelling(tree: Tree) -> Tree:
    """Return the tree with its words in Penn Treebank spelling, for pictures; brackets escape raw words."""
    arrays = tree.root.arrays
    return Tree(TreeArrays.of(arrays.labels, arrays.sizes, raw_to_penn(tree.words, tree.tags)))


def _candidates(sentence: ParsedSentence) -> CandidateList:
    return CandidateList(tuple(sentence.parses), sentence.temperature or 1.0)


def _heading(number: int, rank: int, parse: Parse) -> str:
    return f"# sent {number} parse {rank} score {parse.score:.6g}"


def _analysis(parse: Parse, ptb: bool) -> dict[str, Any]:
    return {
        "tree": parse.tree.to_string(ptb=ptb),
        "spans": [{"label": label, "start": start, "end": end} for label, start, end in parse.tree.spans()],
        "score": parse.score,
        "source": parse.source,
    }
