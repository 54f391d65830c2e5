"""A page of trees: one self-contained HTML file in which trees can be folded, searched, and show their words."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams, Rules
from spacy_incparse.evaluation.summaries import Agreement
from spacy_incparse.settings import check_choice
from spacy_incparse.trees.labels import WRAPPERS
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import captioned, escape, shelve, stack, visible
from spacy_incparse.viz.options import DIFFERENT, EXTRA, INK, MISSING, WRONG_LABEL, Look, Mark, Options
from spacy_incparse.viz.svg import Metrics, document, spans_block, tree_block


def page(pictures: Sequence[Picture], style: str = "tree", *, title: str = "Trees", minify: bool = False) -> str:
    """Return a whole, self-contained page.

    Trees are drawn in one part each; trees that are too wide for the window are folded to fit when the page opens. The
    page runs only its own script, and loads nothing.
    """
    return "".join(page_pieces(pictures, style, title=title, minify=minify))


def page_pieces(
    pictures: Iterable[Picture], style: str, *, title: str = "Trees", minify: bool = False
) -> Iterator[str]:
    """Yield the page in pieces, one for each picture as soon as it is drawn."""
    layout, _, _ = _resource("layout.js", minify).partition("\nexport ")  # a script of a page is no module
    program, rules = f"{layout}\n{_resource('page.js', minify)}", _resource("page.css", minify)
    digest = b64encode(sha256(program.encode("utf8")).digest()).decode("ascii")
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{rules}</style>\n</head>\n<body>\n{_HEADER}<main>\n"
    )
    for picture in pictures:
        section = _section(picture, style)
        yield minified(section) if minify else section
    yield f"</main>\n<script>{program}</script>\n</body>\n</html>\n"


_HEADER = """\
<header role="search">
<input type="search" placeholder="words, or a label such as NP" aria-label="search" autocomplete="off">
<output aria-live="polite"></output>
<label><input type="checkbox"> only trees with hits</label>
<span><button data-action="fit">Fit</button> <button data-action="foldAll">Fold</button> \
<button data-action="unfold">Unfold</button></span>
</header>
"""


def _section(picture: Picture, style: str) -> str:
    title = f"<h2>{escape(picture.title)}</h2>\n" if picture.title else ""
    rows = ["".join(_figure(entry, style, picture.options) for entry in row) for row in picture.rows]
    content = "".join(f'<div class="row">\n{row}</div>\n' for row in rows)
    language = f' lang="{escape(picture.options.lang)}"' if picture.options.lang else ""
    return f"<section{language}>\n{title}{content}</section>\n"


def _figure(entry: Entry, style: str, options: Options) -> str:
    tree, direction = entry.tree, "rtl" if options.is_mirrored(entry.tree) else "ltr"
    nodes = slice(tree.index, tree.index + tree.size)
    data = {
        "sizes": " ".join(map(str, tree.arrays.sizes[nodes])),
        "labels": json.dumps(list(map(visible, tree.arrays.labels[nodes])), separators=(",", ":")),
        "first": str(tree.index),
        "dir": direction,
        "metrics": " ".join(map(str, Metrics.of(options))),
        "tags": str(int(options.tags)),
        "folded": " ".join(str(node - tree.index) for node in sorted(options.folded(tree))),
    }
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    caption = f"<figcaption>{escape(entry.caption)}</figcaption>\n" if entry.caption else ""
    if style == "brackets":
        content = f"{_brackets(entry, options)}\n"
    else:
        words = " ".join(f"<span>{escape(word)}</span>" for word in tree.words)
        text = f'<p class="text" dir="{direction}">{words}</p>\n' if style == "tree" else ""
        unfolded = replace(options, collapse=(), collapse_depth=None, collapse_length=None, width=None)
        limit = None if style == "tree" else options.width
        block = _BLOCKS[style](tree, unfolded, entry.look(options), limit)
        content = f'{text}<div class="scroll">{document(block, options, " ".join(tree.words))}</div>\n'
    path = '<p class="path"></p>\n'
    return f'<figure class="{style}" dir="{direction}"{attributes}>\n{caption}{content}{path}</figure>\n'


@cache
def _resource(name: str, minify: bool = False) -> str:
    text = files("spacy_incparse.viz").joinpath(name).read_text(encoding="utf8")
    if not minify:
        return text
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


@dataclass(frozen=True)
class Entry:
    """A tree, its caption, and the nodes to highlight in it (see `options.Look`)."""

    tree: Tree
    caption: str = ""
    marks: Mapping[int, Mark] = field(default_factory=dict)
    plain: bool = False

    def look(self, options: Options) -> Look:
        """Return the colors of the nodes."""
        return Look(options.colors, self.marks, self.plain)


@dataclass(frozen=True)
class Picture:
    """The trees of a document; the trees of a row are drawn side by side."""

    rows: Sequence[Sequence[Entry]]
    options: Options = field(default_factory=Options)
    title: str = ""


_BLOCKS = {"tree": tree_block, "spans": spans_block}
STYLES = ("tree", "brackets", "spans")


def check_style(style: str) -> str:
    """Return the style. Raises ConfigError if it is unknown."""
    check_choice("the style of pictures", style, STYLES)
    return style


def compared(gold: Tree, parsed: Tree) -> list[Entry]:
    """Return the row for two trees over the same words, with their differences marked. See `comparison.compare`."""
    difference = compare(gold, parsed)
    return [
        Entry(gold, "gold", difference.gold, plain=True),
        Entry(parsed, f"parsed: {difference.summary}", difference.parsed, plain=True),
    ]


def side_by_side(trees: Sequence[Tree], captions: Sequence[str]) -> list[Entry]:
    """Return the row for several analyses of a sentence: nodes that the first one lacks are marked in the others."""
    pairs = zip(trees, captions, strict=True)
    return [Entry(tree, caption, dict.fromkeys(compare(trees[0], tree).parsed, DIFFERENT)) for tree, caption in pairs]


def markup(picture: Picture, style: str) -> str:
    """Return a picture as one SVG document or, in the style "brackets", as one HTML element."""
    options, rows = picture.options, picture.rows
    if style == "brackets":
        title = f'<h2 style="margin:0">{escape(picture.title)}</h2>' if picture.title else ""
        shown = ""
        for row in rows:
            captions = [f"<div><b>{escape(entry.caption)}</b></div>" if entry.caption else "" for entry in row]
            texts = zip(captions, (_brackets(entry, options) for entry in row), strict=True)
            shown += "\n".join(map("".join, texts))
        return f"<div>{title}{shown}</div>"
    blocks = []
    for row in rows:
        is_mirrored, drawn = [options.is_mirrored(entry.tree) for entry in row], []
        for entry, mirrored in zip(row, is_mirrored, strict=True):  # each as wide as the options allow for one
            block = _BLOCKS[style](entry.tree, options, entry.look(options), options.width)
            drawn.append(captioned(block, entry.caption, mirrored=mirrored))
        blocks.append(shelve(drawn, mirrored=is_mirrored[0]))
    mirrored = bool(rows) and options.is_mirrored(rows[0][0].tree)
    sheet = captioned(stack(blocks), picture.title, mirrored=mirrored, size=20)
    return document(sheet, options, " ".join(" ".join(row[0].tree.words) for row in rows))


def minified(html: str) -> str:
    """Return markup without the line breaks between its elements; its texts contain no line breaks."""
    return html.replace(">\n", ">").replace("\n<", "<").strip()


_PLATE = f"color:{INK};border-radius:4px;padding:.05em .3em;font-size:.72em;font-weight:600;vertical-align:.1em"
_TAG = "font-size:.66em;opacity:.75;vertical-align:-.35em;margin-inline-start:.1em"


def _brackets(entry: Entry, options: Options) -> str:
    """Return the words of a tree between the colored brackets of its phrases, as one HTML element.

    Brackets are sibling elements, however deep the tree, since browsers limit nesting. Both brackets of a phrase have
    its node in `data-node`.
    """
    tree, arrays, look = entry.tree, entry.tree.arrays, entry.look(options)
    direction = "rtl" if options.is_mirrored(tree) else "ltr"
    language = f' lang="{escape(options.lang)}"' if options.lang else ""
    ink = "inherit" if options.color == "currentColor" else options.color
    style = (
        f"line-height:2;font-size:{15 if options.compact else 17}px;font-family:{escape(options.font)};"
        f"color:{escape(ink)};background:{escape(options.bg)};direction:{direction}"
    )
    pieces: list[str] = []
    is_open: list[tuple[int, str]] = []  # (index after the phrase, its closing bracket)
    for i in range(tree.index, tree.index + tree.size):
        while is_open and is_open[-1][0] <= i:
            pieces.append(is_open.pop()[1])
        label = arrays.labels[i]
        if arrays.sizes[i] == 1:
            tag = f'<span class="tag" style="{_TAG}">{escape(label)}</span>' if options.tags else ""
            pieces.append(f' <span class="word"><bdi>{escape(arrays.words[arrays.starts[i]])}</bdi>{tag}</span>')
        elif options.shows(label):
            plate = f'style="{_PLATE};background:{escape(look.fill(i, label))}{look.border(i, css=True)}"'
            is_open.append((i + arrays.sizes[i], f'<span class="close" data-node="{i}" {plate}>]</span>'))
            pieces.append(f' <span class="open" data-node="{i}" {plate}>[{escape(look.sign(i) + label)}</span>')
    text = "".join([*pieces, *(closing for _, closing in reversed(is_open))])
    return f'<div class="incparse brackets" dir="{direction}"{language} style="{style}">{text}</div>'


@dataclass(frozen=True)
class Comparison:
    """The brackets that only one of two trees has, as marks on their nodes, by the nodes' numbers.

    If both trees have a bracket over the same words with different labels, it has the mark WRONG_LABEL in both; it
    counts as missing and as extra, as in EVALB.
    """

    gold: Mapping[int, Mark]
    parsed: Mapping[int, Mark]
    agreement: Agreement

    @property
    def summary(self) -> str:
        """The differences in one line."""
        n_wrong = sum(mark is WRONG_LABEL for mark in self.gold.values())
        counts = (
            (len(self.gold) - n_wrong, "missing"),
            (len(self.parsed) - n_wrong, "too many"),
            (n_wrong, "with another label"),
        )
        found = ", ".join(f"{count} {what}" for count, what in counts if count) or "no difference"
        scores = self.agreement
        return f"{found} · P {100 * scores.precision:.1f} R {100 * scores.recall:.1f} F {100 * scores.f:.1f}"


def compare(gold: Tree, parsed: Tree, params: EvalbParams = COLLINS) -> Comparison:
    """Match the brackets of two trees as EVALB does with the given parameters.

    Words are deleted by their gold tags (traces may be in one tree only), labels cut and deleted, equal brackets
    matched as multisets. Brackets that EVALB ignores get no mark. Raises IncparseError if the words differ.
    """
    rules = Rules(params)
    kept = _kept_words(gold, parsed, rules)
    gold_by_span, parsed_by_span = _by_span(gold, kept[0], rules), _by_span(parsed, kept[1], rules)
    n_gold, n_parsed = [sum(map(len, brackets.values())) for brackets in (gold_by_span, parsed_by_span)]
    n_missing, gold_marks, parsed_marks = 0, dict[int, Mark](), dict[int, Mark]()
    for span in gold_by_span | parsed_by_span:
        missing, extra = gold_by_span.get(span, []), parsed_by_span.get(span, [])
        for bracket in list(missing):  # each matches the first free one
            for other in extra:
                if not params.labeled or rules.same_label(bracket[1], other[1]):
                    missing.remove(bracket)
                    extra.remove(other)
                    break
        n_missing += len(missing)
        n_wrong = min(len(missing), len(extra))
        gold_marks |= {index: WRONG_LABEL if k < n_wrong else MISSING for k, (index, _) in enumerate(missing)}
        parsed_marks |= {index: WRONG_LABEL if k < n_wrong else EXTRA for k, (index, _) in enumerate(extra)}
    return Comparison(gold_marks, parsed_marks, Agreement(n_gold - n_missing, n_gold, n_parsed))


def _kept_words(gold: Tree, parsed: Tree, rules: Rules) -> tuple[list[bool], list[bool]]:
    """Return for the words of each tree whether they count; without traces, both trees have the same words."""
    gold_tags, parsed_tags = gold.tags, parsed.tags
    traces = rules.deleted_tags & rules.not_in_length
    gold_words = [i for i, tag in enumerate(gold_tags) if tag not in traces]
    parsed_words = [i for i, tag in enumerate(parsed_tags) if tag not in traces]
    if len(gold_words) != len(parsed_words):
        # A real word may have been tagged as a trace.
        gold_words, parsed_words = list(range(len(gold_tags))), list(range(len(parsed_tags)))
    if len(gold_words) != len(parsed_words):
        start = " ".join(parsed.words)[:40]
        raise IncparseError(
            f"a tree of {len(parsed_words)} words, {start!r}, cannot be compared with one of {len(gold_words)}"
        )
    gold_kept, parsed_kept = [False] * len(gold_tags), [False] * len(parsed_tags)
    for i, k in zip(gold_words, parsed_words, strict=True):
        if not rules.same_word(gold.words[i], parsed.words[k]):
            raise IncparseError(
                f"trees over different words cannot be compared: word {k + 1} is {parsed.words[k]!r}, "
                f"and {gold.words[i]!r} in gold"
            )
        gold_kept[i] = parsed_kept[k] = gold_tags[i] not in rules.deleted_tags
    return gold_kept, parsed_kept


def _by_span(tree: Tree, kept: Sequence[bool], rules: Rules) -> dict[tuple[int, int], list[tuple[int, str]]]:
    """Return spans in counted words -> the nodes over each, from the top down, with labels as EVALB reads them."""
    brackets: dict[tuple[int, int], list[tuple[int, str]]] = {}
    position = [0, *accumulate(kept)]
    arrays, offset = tree.arrays, tree.start
    for index in range(tree.index, tree.index + tree.size):
        if arrays.sizes[index] == 1:
            continue
        whole = arrays.labels[index]
        label = rules.bracket_label("TOP" if index == tree.index and whole in WRAPPERS else whole)
        span = position[arrays.starts[index] - offset], position[arrays.ends[index] - offset]
        if label is not None and span[0] < span[1]:
            brackets.setdefault(span, []).append((index, label))
    return brackets
