"""Formats of treebanks other than brackets: NEGRA export, TIGER XML, discontinuous brackets, tables of CoNLL.

A format splits a file into blocks, one for each sentence, and turns a block into a tree. Files are read block by block,
so that memory does not grow with their size. What each format keeps is in docs/formats.md.
"""

from __future__ import annotations

import codecs
import gzip
import re
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import whole_lines
from spacy_incparse.tokens import escape_brackets, escape_columns, escape_label, penn_to_raw, raw_to_penn
from spacy_incparse.treebanks.graphs import BadError, tree_of_graph, with_edge
from spacy_incparse.trees.arrays import bracket_bits
from spacy_incparse.trees.brackets import MalformedError, TreeParser, skip_blank
from spacy_incparse.trees.labels import WRAPPERS, bare_label
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.treebanks.reader import SkipLog

VROOT = "VROOT"  # the virtual root of a sentence, which a treebank may leave out


class TreeOfFile(NamedTuple):
    """A tree as published, with what the file says about it."""

    tree: Tree
    id: str | None = None
    n_moved: int = 0  # nodes that were attached elsewhere, since branches crossed
    line: int = 0
    path: Path | str = ""
    text: str | None = None  # as it was written, if the file says so


@dataclass
class Block:
    """The part of a file with one sentence; with a `problem`, it is malformed."""

    line: int
    lines: list[Any] = field(default_factory=list)
    id: str | None = None
    problem: str = ""
    kind: int = 0  # the version of an export file
    is_tree: bool = True
    text: str | None = None
    end: int = 0  # the number of the last line


class Format(NamedTuple):
    """A format of treebanks. `blocks` raises BadError where a file cannot be read on, `tree` for a malformed block."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    is_like: Callable[[str], object]  # whether the beginning of a file shows this format
    blocks: Callable[[Iterable[str]], Iterator[Block]]
    tree: Callable[[Block], tuple[Tree, int]]
    text: Callable[[Tree, str], str]  # of a tree with an id
    head: str = ""
    foot: str = ""
    may_cross: bool = False  # whether branches may
    changed: Callable[[Block, str, Tree], str] = lambda block, source, tree: str(tree)  # a sentence with another tree


def format_of_text(beginning: str) -> Format | None:
    """Return the format that the beginning of a file shows; None for brackets and what is unknown."""
    return next((one for one in FORMATS if one.is_like(beginning[:BEGINNING])), None)


BEGINNING = 20_000  # number of characters that show the format
_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']""")
_LONGEST = 2**24  # bytes of a line: a small gzipped file can claim gigabytes


def encoding_of(beginning: bytes) -> str:
    """Return the encoding that an XML file declares, if it is known, and otherwise UTF-8."""
    found = _ENCODING.match(beginning)
    with suppress(LookupError):
        return codecs.lookup(found[1].decode()).name if found else "utf-8"
    return "utf-8"


def sentences_of_file(path: Path, skip_bad: SkipLog | None = None) -> Iterator[TreeOfFile] | None:
    """Return the sentences of a file, which is read piece by piece; None if it has brackets, or cannot be read so.

    Raises TreebankError at a malformed sentence, unless there is a log for it.
    """
    try:
        with _opened(path) as file:
            beginning = file.read(BEGINNING)
    except (OSError, EOFError, zlib.error):  # the other reader has messages
        return None
    found = format_of_text(beginning.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n"))
    return _sentences(found, _lines_of(path, encoding_of(beginning)), path, skip_bad) if found else None


def _opened(path: Path) -> IO[bytes]:
    if not path.is_file():
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        is_zipped = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path) if is_zipped else path.open("rb"))


def _lines_of(path: Path, encoding: str) -> Iterator[str]:
    number, line = 0, b""
    try:
        with _opened(path) as file:
            for number, line in enumerate(whole_lines(iter(partial(file.readline, _LONGEST), b"")), start=1):
                yield line.decode("utf-8-sig" if number == 1 and encoding == "utf-8" else encoding).replace(
                    "\r\n", "\n"
                )
    except UnicodeDecodeError as error:
        raise TreebankError(path, number, error.start + 1, wrong_byte(line[error.start], encoding)) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(path, number + 1, 1, f"the gzip file is damaged: {error}") from None


def wrong_byte(byte: int, encoding: str) -> str:
    """Return what is wrong with a file that has a byte which its encoding has not."""
    name = "UTF-8" if encoding.startswith("utf-8") else f"of the encoding {encoding}, which the file declares"
    return f"byte 0x{byte:02x} is not {name}: convert the file to UTF-8 first, for example with iconv"


def sentences_of_text(text: str, path: Path | str, skip_bad: SkipLog | None = None) -> Iterator[TreeOfFile] | None:
    """Return the sentences of a file's text; None if it has brackets. Errors are as in `sentences_of_file`."""
    found = format_of_text(text)
    return _sentences(found, StringIO(text), path, skip_bad) if found else None


def _sentences(one: Format, file: Iterable[str], path: Path | str, skip_bad: SkipLog | None) -> Iterator[TreeOfFile]:
    n_trees, n_crossing, n_moved, blocks, problem = 0, 0, 0, one.blocks(file), False
    block: Block | None = Block(1)
    while block is not None:
        try:
            block = Block(1, is_tree=False)  # where `blocks` fails
            block = next(blocks, None)
            if block is not None and block.problem:
                raise BadError(block.line, block.problem)
            tree, n = one.tree(block) if block is not None else (None, 0)
            if tree is None and not n_trees and not problem:
                raise BadError(1, f"the file has no trees; expected sentences in {one.title}")
        except BadError as bad:
            error, problem = TreebankError(path, bad.place, bad.column, bad.what), True
            if skip_bad is None:
                raise error from None
            text = "\n".join(map(str, block.lines)) if block else ""
            skip_bad.add(error, text, is_tree=bool(block and block.is_tree))
            continue
        if tree is not None and block is not None:
            n_trees, n_crossing, n_moved = n_trees + 1, n_crossing + bool(n), n_moved + n
            yield TreeOfFile(tree, block.id, n, block.line, path, block.text)
    if n_moved:
        what = f"branches cross in {n_crossing:,} of {n_trees:,} trees; {n_moved:,} nodes were moved up or down"
        warnings.warn(f"{path}: {what} to make the trees continuous (docs/formats.md)", stacklevel=2)


Row = tuple[str, "str | None", str, str, str, int]
"""The name of a node, its word or None, category, edge label, the name of its parent or "", and line."""


def _graph_tree(rows: list[Row], line: int) -> tuple[Tree, int]:
    """Return the tree of a sentence's nodes, whose virtual root may be one of them, with its label, or none."""
    rows.sort(key=lambda row: row[1] is None)
    words, labels = [row[1] for row in rows if row[1] is not None], [with_edge(row[2], row[3]) for row in rows]
    numbers, n = {row[0]: k for k, row in enumerate(rows)}, len(rows)
    tops = [k for k, row in enumerate(rows) if not row[4]]
    root = tops[0] if len(tops) == 1 and tops[0] >= len(words) and labels[tops[0]] == VROOT else n
    numbers[""], parents = root, list[int]()
    for k, (name, _, _, _, up, where) in enumerate(rows):
        if numbers[name] != k or up not in numbers:
            what = f"is in this sentence twice, {name!r}" if numbers[name] != k else f"has no parent {up!r} in it"
            raise BadError(where, f"a node {what}")
        parents.append(numbers[up])
    try:
        if words:
            return tree_of_graph(words, labels if root < n else [*labels, VROOT], [*parents, root], root)
    except BadError as error:
        where, node = (rows[error.place][5], rows[error.place][0]) if error.place < n else (line, VROOT)
        raise BadError(where, f"the node {node} {error.what}") from None
    raise BadError(line, "a sentence without words")


def _rows_of(tree: Tree) -> Iterator[tuple[int, str, str, str, str, str]]:
    """Yield the words below a tree's wrapper, then the phrases, lowest first, with names from 1, and from 500.

    Each is its number, its name, its word or "", category, edge label, and the name of its parent, 0 for the wrapper.
    """
    arrays, words = tree.own_arrays, map(escape_columns, tree.words)
    is_wrapped = arrays.labels[0] in WRAPPERS
    phrases = [node for node, size in enumerate(arrays.sizes) if size > 1 and (node or not is_wrapped)]
    phrases.sort(key=lambda node: arrays.heights[node])
    names = {node: str(k) for k, node in [*enumerate(arrays.leaves, start=1), *enumerate(phrases, start=500)]}
    for node, name in names.items():
        label, word = arrays.labels[node], next(words) if arrays.sizes[node] == 1 else ""
        category, up = bare_label(label), names.get(arrays.parents[node], "0")
        yield node, name, word, category, label[len(category) :].removeprefix("-") or "--", up


# The export format of NEGRA (Brants 1997): a line of columns for each word, then for each node. Version 4 has lemmas.
_EXPORT = re.compile(r"^(?:#FORMAT\s|#BO[ST]\s|%%\s*word\s)", re.IGNORECASE | re.MULTILINE)
_COMMENT = re.compile(r"(?:^|[\t ]+)%%")
_NUMBER = re.compile(r"\d+", re.ASCII).fullmatch
_NODE = re.compile(r"#\d{3,}", re.ASCII)


def _export_blocks(file: Iterable[str]) -> Iterator[Block]:
    version, block, in_table = 3, None, False
    for number, line in enumerate(file, start=1):
        name = line[:4]
        if block is not None and name != "#BOS" and name != "#EOS":
            block.lines.append(line)
        elif name == "#BOS" or name == "#EOS":
            id = "".join(line.split()[1:2])
            if block is not None:
                block.end = number
                if name == "#BOS" or id != block.id:
                    block.problem = f"the sentence ends without #EOS {block.id} before or on line {number}"
                yield block
                block = None
            elif name == "#EOS":
                yield Block(number, [line], problem="#EOS without #BOS before it", is_tree=False)
            if name == "#BOS":
                block, in_table = Block(number, [], id, "" if id else "#BOS without a number", version), False
        elif re.match(r"#FORMAT\s+[34]\s*$", line):
            version = int(line.split()[1])
        elif name == "#BOT" or name == "#EOT":
            in_table = name == "#BOT"
        elif line.strip() and name[:2] != "%%" and not in_table:
            what = f"{line.strip()[:40]!r} outside a sentence; expected #BOS, or #FORMAT 3 or 4"
            yield Block(number, [line], problem=what, is_tree=False)
    if block is not None:
        block.problem = "the sentence does not end before the file does; expected #EOS"
        yield block


def _export_tree(block: Block) -> tuple[Tree, int]:
    n_columns, tag, rows = block.kind + 2, block.kind - 2, list[Row]()
    for number, line in enumerate(block.lines, start=block.line + 1):
        if "%%" in line:
            line = _COMMENT.split(line, maxsplit=1)[0]
        columns = [column.strip(" ") for column in line.rstrip("\n").split("\t" if "\t" in line else " ")]
        if "" in columns:
            columns = [column for column in columns if column]
        if not columns:
            continue
        name, more = columns[0], columns[n_columns - 1 :]  # the parent, and secondary edges
        if not (len(more) % 2 and all(map(_NUMBER, more[::2]))):
            wanted = f"word {'lemma ' * (tag - 1)}tag morphology edge parent, and pairs of an edge and a node"
            raise BadError(number, f"{len(columns)} columns; expected those of version {block.kind}: {wanted}")
        is_node = name[0] == "#" and _NODE.fullmatch(name)
        if not is_node and rows and rows[-1][1] is None:
            raise BadError(number, f"the word {name!r} after nodes; expected a node, such as #501, or #EOS")
        word, up = None if is_node else penn_to_raw(name, columns[tag]), "" if more[0] == "0" else more[0]
        rows.append((name[1:] if is_node else f"word {number}", word, columns[tag], columns[tag + 2], up, number))
    return _graph_tree(rows, block.line)


def _export_text(tree: Tree, id: str) -> str:
    id = id.removeprefix("s") if id.removeprefix("s").isdecimal() else "0"
    lines = (f"{word or f'#{name}'}\t--\t{escape_label(category)}\t--\t{escape_label(edge)}\t{up}\n"
             for _, name, word, category, edge, up in _rows_of(tree))  # fmt: skip
    return f"#BOS {id} 0 0 0\n{''.join(lines)}#EOS {id}\n"


def _export_changed(block: Block, source: str, tree: Tree) -> str:
    """Return a sentence with another tree: words keep their lemmas and morphology, and lose secondary edges."""
    lines, rows, n = list[str](), list(_rows_of(tree)), len(tree.words)
    tags = iter(rows[:n])
    for line in source.split("\n")[:-1]:
        columns = _COMMENT.split(line, maxsplit=1)[0].split()
        if line[:4] == "#EOS":
            lines += [f"#{name}" + "\t--" * (block.kind - 3) + f"\t{category}\t--\t{edge}\t{up}"
                      for _, name, _, category, edge, up in rows[n:]]  # fmt: skip
        elif line[:4] != "#BOS" and columns:
            if _NODE.fullmatch(columns[0]):
                continue
            _, _, _, category, edge, up = next(tags)
            columns = [one.strip(" ") for one in line.split("\t") if one.strip(" ")] if "\t" in line else columns
            before, morphology = columns[: block.kind - 2], columns[block.kind - 1]
            line = "\t".join([*before, category, morphology, edge, up, *re.findall("%%.*", line)])
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


# TIGER XML (Koenig & Lezius 2003).
XML = re.compile(r"\s*<(?:\?xml|!|[\w:]+[\s>])")
_TIGER = re.compile(r"<(?:\w+:)?(?:corpus|subcorpus|graph)[\s>]")
_IN_GRAPH = frozenset(["terminals", "nonterminals", "t", "nt", "edge", "secedge", "graph"])


def _tiger_blocks(file: Iterable[str]) -> Iterator[Block]:
    """Yield the sentences of a corpus, with (element, attributes, line) as lines. No entities of its own are read."""
    parser, blocks, lines, text = expat.ParserCreate("utf-8"), list[Block](), iter(file), " "

    def start(name: str, attributes: dict[str, str]) -> None:
        name, line = name[name.rfind(":") + 1 :] if ":" in name else name, parser.CurrentLineNumber
        if name == "s":
            blocks.append(Block(line, [], attributes.get("id")))
        elif attributes.get("external"):
            raise BadError(line, f"a part is in another file, {attributes['external']!r}: name that file instead")
        elif name in _IN_GRAPH or (blocks and name not in ("subcorpus", "body")):
            if not blocks:
                raise BadError(line, f"<{name}> outside a sentence")
            blocks[-1].lines.append((name, attributes, line))

    def refuse(name: str, *_: object) -> None:
        raise BadError(parser.CurrentLineNumber, f"the XML declares the entity {name!r}, as no corpus does: not read")

    parser.StartElementHandler, parser.EntityDeclHandler = start, refuse
    while text:
        text, problem = "".join(islice(lines, 500)), None
        try:
            parser.Parse(text.encode(), not text)
        except BadError as bad:
            problem = bad
        except expat.ExpatError as error:
            what = f"the XML is damaged: {expat.ErrorString(error.code)}; what follows cannot be read"
            problem = BadError(error.lineno, what, error.offset + 1)
        n_whole = len(blocks) - bool(text)  # the last one may go on
        yield from blocks[:n_whole]
        del blocks[:n_whole]
        if problem is not None:
            raise problem


def _tiger_tree(block: Block) -> tuple[Tree, int]:
    nodes, ups, current = list[tuple[str, str | None, str, int]](), dict[str, tuple[str, str, int]](), ""
    for name, found, line in block.lines:
        if name == "edge":
            child = found.get("idref", "")
            if not (current and child) or child in ups:
                raise BadError(line, f"the edge to {child!r} is not in <nt>, or a second one")
            ups[child] = current, found.get("label", ""), line
        elif name in ("t", "nt"):
            id, label, word = found.get("id", ""), found.get("pos" if name == "t" else "cat", ""), found.get("word", "")
            if not (id and label and (word or name == "nt")):
                what = f"<{name}> has {' '.join(map('='.join, found.items()))}"
                raise BadError(line, f"{what}; expected id, {'word and pos' if name == 't' else 'and cat'}")
            nodes.append((id, penn_to_raw(word, label) if name == "t" else None, label, line))
            current = id if name == "nt" else ""
        elif name == "matches":
            break
        elif name not in _IN_GRAPH or (name == "graph") != (found is block.lines[0][1]):
            what = f"<{name}> in a sentence; expected one graph, and in it {', '.join(sorted(_IN_GRAPH - {'graph'}))}"
            raise BadError(line, what)
    root = block.lines[0][1].get("root") if block.lines else None
    ids = {id for id, _, _, _ in nodes}
    if lost := next((id for id in ups if id not in ids), None):
        raise BadError(ups[lost][2], f"the edge leads to {lost!r}, which does not exist in this sentence")
    if root in ups or (root is not None and root not in ids and not root.endswith(VROOT)):
        raise BadError(block.line, f"the root {root!r} does not exist in this sentence, or has a parent")
    above = ((node, ups.get(node[0], ("", "", 0))) for node in nodes)
    return _graph_tree([(*node[:3], edge, up, node[3]) for node, (up, edge, _) in above], block.line)


def _tiger_text(tree: Tree, id: str) -> str:
    id = id if id[:1].isalpha() else f"s{id}"
    words, phrases, edges = list[str](), list[tuple[str, str]](), defaultdict[str, list[str]](list)
    for _, name, word, category, edge, up in _rows_of(tree):
        own = f"id={quoteattr(f'{id}_{name}')}"
        if word:
            words.append(f"<t {own} word={quoteattr(word)} pos={quoteattr(escape_label(category))}/>\n")
        else:
            phrases.append((name, f"<nt {own} cat={quoteattr(escape_label(category))}>\n"))
        edges[up].append(f"<edge label={quoteattr(edge)} idref={quoteattr(f'{id}_{name}')}/>\n")
    phrases.append(("0", f"<nt id={quoteattr(f'{id}_{VROOT}')} cat={quoteattr(VROOT)}>\n"))
    nodes = "".join(f"{start}{''.join(edges[name])}</nt>\n" for name, start in phrases)
    return (
        f"<s id={quoteattr(id)}>\n<graph root={quoteattr(f'{id}_{VROOT}')}>\n<terminals>\n{''.join(words)}"
        f"</terminals>\n<nonterminals>\n{nodes}</nonterminals>\n</graph>\n</s>\n"
    )


_TIGER_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<corpus id="trees">\n<head>\n<annotation>\n'
    '<feature name="word" domain="T"/>\n<feature name="pos" domain="T"/>\n<feature name="cat" domain="NT"/>\n'
    "<edgelabel/>\n</annotation>\n</head>\n<body>\n"
)


SENTENCE = re.compile(r"<(\w+:)?s\b[^>]*>.*?</(?:\w+:)?s\s*>", re.DOTALL)
_ATTRIBUTES = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>"""
_TERMINAL = re.compile(rf"<(?:\w+:)?t\b{_ATTRIBUTES}")
_SECONDARY = re.compile(rf"\s*<(?:\w+:)?secedge\b{_ATTRIBUTES}")
_NONTERMINALS = re.compile(
    r"[ \t]*<(?:\w+:)?nonterminals\b.*</(?:\w+:)?nonterminals\s*>|(?=</(?:\w+:)?graph\s*>)", re.DOTALL
)


def _attribute(name: str) -> re.Pattern[str]:
    return re.compile(rf"""(\s{name}\s*=\s*)("[^"]*"|'[^']*')""")


def _tiger_changed(block: Block, source: str, tree: Tree) -> str:
    """Return a sentence with another tree: words keep their attributes, and lose secondary edges."""
    rows, n, ids = list(_rows_of(tree)), len(tree.words), list[str]()
    root, prefix = f"{block.id}_{VROOT}", SENTENCE.match(source)[1] or ""  # type: ignore[index]
    tags = (quoteattr(category) for _, _, _, category, _, _ in rows)

    def tagged(found: re.Match[str]) -> str:
        ids.append(_attribute("id").search(found[0])[2][1:-1])  # type: ignore[index]
        tag = next(tags)
        return _attribute("pos").sub(lambda one: one[1] + tag, found[0])

    text = _TERMINAL.sub(tagged, _SECONDARY.sub("", source))
    names = {row[1]: one for row, one in zip(rows, ids, strict=False)} | {
        row[1]: f"{block.id}_{row[1]}" for row in rows[n:]
    }
    edges: dict[str, list[str]] = {}
    for _, name, _, _, edge, up in rows:
        edges.setdefault(up, []).append(f"<{prefix}edge label={quoteattr(edge)} idref={quoteattr(names[name])}/>")
    nodes = [
        (f"{root}", VROOT, edges["0"]),
        *((names[name], category, edges[name]) for _, name, _, category, _, _ in rows[n:]),
    ]
    lines = (
        f"<{prefix}nt id={quoteattr(name)} cat={quoteattr(category)}>{''.join(below)}</{prefix}nt>\n"
        for name, category, below in nodes
    )
    made = f"<{prefix}nonterminals>\n{''.join(lines)}</{prefix}nonterminals>"
    text = _NONTERMINALS.sub(lambda _: made, text, count=1)
    return _attribute("root").sub(lambda one: one[1] + quoteattr(root), text, count=1)


# Discontinuous brackets, as disco-dop has them: words by their index, `0=Rain`, or alone with the sentence behind.
_LEAF = re.compile(r"\([^ \t\n()]+[ \t]+([^ \t\n()]+)[ \t]*\)")
_INDEXED = re.compile(r"([0-9]{1,6})=(.+)", re.DOTALL)
_INDEX = re.compile(r"([0-9]{1,6})()")


def _is_discontinuous(beginning: str) -> bool:
    """Return whether the first tree with two words has indices; a single word like `0=Rain` proves nothing."""
    for line in (line for line in beginning.split("\n") if line[:1] == "("):
        words, rest = _LEAF.findall(line), line.rpartition(")")[2].strip()
        if len(words) > 1 or (words and rest):
            found = [(_INDEX if rest else _INDEXED).fullmatch(word) for word in words]
            return all(one and int(one[1]) < len(words) for one in found)
    return False


def _disc_tree(block: Block) -> tuple[Tree, int]:
    text = block.lines[0]
    try:
        arrays, after = TreeParser(text).read(skip_blank(text, 0), len(text))
    except MalformedError as bad:
        raise BadError(block.line, bad.what, bad.position + 1) from None
    bare, n, found = text[after:].split(), len(arrays.words), dict[int, tuple[int, str]]()
    for leaf, word in zip(arrays.leaves, arrays.words, strict=True):
        match = (_INDEX if bare else _INDEXED).fullmatch(word)
        index = int(match[1]) if match else -1
        if match is None or index in found or not index < n == len(bare or arrays.words):
            what = f"{n} words, and {len(bare or arrays.words)} behind it: each of 0 to {n - 1} once"
            raise BadError(block.line, f"the index {word!r} of a tree with {what}, as in 0=Rain")
        word, tag = bare[index] if bare else match[2], arrays.labels[leaf]
        found[index] = leaf, penn_to_raw(word, tag) if bare or word.endswith(("`", "''")) else word
    order = [*(found[k][0] for k in range(n)), *(node for node, size in enumerate(arrays.sizes) if size > 1)]
    numbers, words = {node: k for k, node in enumerate(order)}, [found[k][1] for k in range(n)]
    words = [word.replace("#LRB#", "(").replace("#RRB#", ")") for word in words]
    if len(arrays.sizes) == 1:
        return Tree(replace(arrays, words=tuple(words))), 0
    labels, ups = [arrays.labels[node] for node in order], [numbers.get(arrays.parents[node], -1) for node in order]
    return tree_of_graph(words, labels, ups, numbers[0])


def _disc_text(tree: Tree, id: str) -> str:
    words = ("\\" + word if word in ("`", "``", "''") else word for word in tree.words)
    return f"{Tree(replace(tree.own_arrays, words=tuple(f'{k}={word}' for k, word in enumerate(words))))}\n"


# Tables with the brackets around each word in a column, in which `*` is the word: that of CoNLL-2012 and OntoNotes, and
# CoNLL-U with them in MISC, as `parse --format conllu` writes it.
_BITS = r"(?:\([^()\s]*)*\*\)*"
_CONLL = re.compile(rf"(?:#begin document\b.*\n)?\s*\S+[ \t]+\d+[ \t]+0[ \t]+\S+[ \t]+\S+[ \t]+{_BITS}[ \t]")
_CONLLU = re.compile(r"^1\t(?:[^\t\n]*\t){8}", re.MULTILINE)
_TREE = re.compile(rf"(?:.*\|)?Tree=({_BITS})(?:\|.*)?")
_TEXT = re.compile(r"# ?(sent_id|text) ?= ?(.*)")
TableRow = tuple[str, str, str]  # a word, its tag and brackets


def table_blocks(file: Iterable[str]) -> Iterator[Block]:
    """Yield the sentences of a table, which end at empty lines, with (line, its number) as lines."""
    block = Block(1)
    for number, line in enumerate(chain(file, [""]), start=1):
        if line.strip() and not line.startswith(("#begin document", "#end document")):
            block.line, block.end = block.line if block.lines else number, number
            block.lines.append((line.rstrip("\n"), number))
        elif block.lines:
            yield block
            block = Block(number)


def conllu_words(block: Block) -> Iterator[tuple[list[str], int]]:
    """Yield the columns of each word of CoNLL-U with their line, and set the block's id and text.

    Tokens of several words and empty nodes are left out. Raises BadError for what is no word.
    """
    n_words = 0
    for line, number in block.lines:
        columns = line.split("\t")
        if line[0] == "#":
            if found := _TEXT.fullmatch(line):
                block.id, block.text = (found[2] or None, block.text) if found[1] == "sent_id" else (block.id, found[2])
        elif not re.fullmatch(r"\d+[-.]\d+", columns[0], re.ASCII):
            n_words += 1
            if len(columns) != 10 or columns[0] != str(n_words) or not columns[1]:
                raise BadError(number, f"expected word {n_words} of CoNLL-U in 10 columns, not {line!r:.60}")
            yield columns, number


def _conllu_row(columns: list[str], number: int) -> TableRow:
    if found := _TREE.fullmatch(columns[9]):
        return columns[1], columns[4] if columns[4] != "_" else columns[3], found[1].replace("/", "|")
    raise BadError(number, f"expected brackets such as Tree=(NP* in the last column, not {columns[9]!r:.60}")


def _conll_row(line: str, number: int, k: int) -> TableRow:
    columns = line.split()
    if len(columns) < 7 or columns[2] != str(k) or not re.fullmatch(_BITS, columns[5]):
        what = f"word {k} in the columns of CoNLL-2012, the sixth with brackets such as (NP*)"
        raise BadError(number, f"expected {what}, not {line!r:.60}")
    return penn_to_raw(columns[3], columns[4]), columns[4], columns[5]


def _table_tree(rows: Iterable[TableRow], block: Block) -> tuple[Tree, int]:
    leaves = ((bits, f" ({escape_label(tag)} {escape_brackets(word)})") for word, tag, bits in rows)
    try:
        return Tree.from_string(" ".join(leaf.join(bits.rsplit("*", 1)) for bits, leaf in leaves)), 0
    except TreebankError as error:
        raise BadError(block.line, f"the brackets of this sentence: {error.problem}") from None


def _conll_text(tree: Tree, id: str) -> str:
    rows = zip(raw_to_penn(tree.words, tree.tags), tree.tags, bracket_bits(tree.own_arrays), strict=True)
    lines = (f"trees\t0\t{k}\t{word}\t{escape_label(tag)}\t{bits}\t-\t-\t-\t-\t*\t-\n"
             for k, (word, tag, bits) in enumerate(rows))  # fmt: skip
    return "".join([*lines, "\n"])


def _conllu_text(tree: Tree, id: str) -> str:
    rows = zip(tree.words, tree.tags, bracket_bits(tree.own_arrays), strict=True)
    lines = (f"{k}\t{' '.join(word.split()) or '_'}\t_\t_\t{tag}\t_\t_\t_\t_\tTree={bits.replace('|', '/')}\n"
             for k, (word, tag, bits) in enumerate(rows, start=1))  # fmt: skip
    return f"# sent_id = {id}\n{''.join(lines)}\n"


def _conll_changed(block: Block, source: str, tree: Tree) -> str:
    rows, lines = zip(block.lines, tree.tags, bracket_bits(tree.own_arrays), strict=True), list[str]()
    for (line, _), tag, bits in rows:
        columns = re.findall(r"\s*\S+", line)
        for k, new in ((4, escape_label(tag)), (5, bits)):
            columns[k] = columns[k][: len(columns[k]) - len(columns[k].lstrip())] + new
        lines.append("".join(columns) + "\n")
    return "".join(lines)


def _conllu_changed(block: Block, source: str, tree: Tree) -> str:
    words, lines = iter(zip(tree.tags, bracket_bits(tree.own_arrays), strict=True)), list[str]()
    for line, _ in block.lines:
        columns = line.split("\t")
        if columns[0].isdecimal():
            tag, bits = next(words)
            columns[4 if columns[4] != "_" else 3] = tag
            own = f"Tree={bits.replace('|', '/')}"
            columns[9] = "|".join(own if one.startswith("Tree=") else one for one in columns[9].split("|"))
        lines.append("\t".join(columns) + "\n")
    return "".join(lines)


FORMATS = (
    Format("export", "the NEGRA export format", (".export", ".negra"), _EXPORT.search, _export_blocks, _export_tree,
           _export_text, "#FORMAT 4\n", may_cross=True, changed=_export_changed),
    Format("tiger", "TIGER XML", (".xml", ".tigerxml"), lambda text: XML.match(text) and _TIGER.search(text),
           _tiger_blocks, _tiger_tree, _tiger_text, _TIGER_HEAD, "</body>\n</corpus>\n", may_cross=True,
           changed=_tiger_changed),
    Format("conll", "CoNLL-2012's table", (".conll", "_conll"), _CONLL.match, table_blocks,
           lambda block: _table_tree((_conll_row(line, n, k) for k, (line, n) in enumerate(block.lines)), block),
           _conll_text, "#begin document (trees); part 000\n", "#end document\n",
           changed=_conll_changed),
    Format("conllu", "CoNLL-U with brackets", (".conllu",), _CONLLU.search, table_blocks,
           lambda block: _table_tree((_conllu_row(*word) for word in conllu_words(block)), block), _conllu_text,
           changed=_conllu_changed),
    Format("discbracket", "discontinuous brackets", (".discbracket", ".dbr"), _is_discontinuous,
           lambda file: (Block(k, [line], end=k) for k, line in enumerate(file, 1) if line.strip() and line[0] != "#"),
           _disc_tree, _disc_text, may_cross=True, changed=lambda block, source, tree: _disc_text(tree, "")),
)  # fmt: skip


def written(sentences: Iterable[TreeOfFile], one: Format) -> Iterator[str]:
    """Yield a file with these trees in a format, piece by piece.

    Raises IncparseError for a tree whose branches crossed, if they may in the format: what it would say were wrong.
    """
    yield one.head
    for number, sentence in enumerate(sentences, start=1):
        if sentence.n_moved and one.may_cross:
            what = f"branches cross in this sentence, and its tree is continuous now: {one.title} would say otherwise"
            raise IncparseError(f"{sentence.path}:{sentence.line}: {what}; write brackets instead, as with --to penn")
        yield one.text(sentence.tree, sentence.id or str(number))
    yield one.foot
