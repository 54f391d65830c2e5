"""Trees of what the sources of the embedded pipelines hardly have, by the templates of `constructions.txt`.

A newspaper has 40 quotations with a verb of saying and 40 amounts of money among 10,000 words; GUM's allowed genres,
MASC and CRAFT have one or two. Inversion, gapping, long-distance questions and other constructions that people write
are rare in all treebanks. The shapes are those of the Penn Treebank's guidelines.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from spacy_incparse.trees.tree import Tree

TEMPLATES = Path(__file__).with_name("constructions.txt")
KINDS = {"speech": 1, "money": 1, "other": 2}  # names of templates for whole sentences, and how many there are of each
MARKS = (('(`` ")', "('' \")"), ("(`` “)", "('' ”)"), ("", ""))
MAX_WORDS = 25  # of a sentence that is quoted
MAX_PHRASE = 6  # words of a phrase that fills a template
VOWELS = re.compile(r"\(DT a\)( \([^()]+ [aeiou])")
WORD = re.compile(r"(\((?![-`',.:$])[A-Z$]+ )(\w)")  # the first one


class Builder:
    """Draws trees. rng: the random numbers; trees: the sources, whose sentences and phrases fill templates."""

    def __init__(self, rng: random.Random, trees: Sequence[Tree]):
        self._rng = rng
        self._templates = read_templates()
        sentences = [tree.children[0] for tree in trees if len(tree.children) == 1]
        self._quoted = [node.children[:-1] for node in sentences if node.label == "S" and _can_be_quoted(node)]
        self._templates["asked"] = [str(n) for n in sentences if n.label in ("SQ", "SBARQ") and _can_be_quoted(n)]
        self._templates["phrase"] = [
            str(node)
            for tree in trees
            for node in tree.phrases("NP")
            if 1 < len(node.words) <= MAX_PHRASE and _is_plain(node)
        ]

    def tree(self, kind: str) -> Tree:
        """Return a sentence of a kind."""
        parts = self._rng.choice(self._quoted)
        begin, end = self._rng.choice(MARKS)
        fixed = {"<": begin, ">": end, "quoted": _joined(parts)}
        fixed |= {"first": str(parts[0]), "rest": _joined(part for part in parts[1:] if part.label != ",")}
        text = f"{{{kind}}}"
        while "{" in text:
            text = re.sub(r"\{([^{}]+)\}", lambda match: self._filled(match[1], fixed), text)
        text = VOWELS.sub(r"(DT an)\1", text)
        text = WORD.sub(lambda match: match[1] + match[2].upper(), text, count=1)
        return Tree.from_string(f"(TOP {text})")

    def _filled(self, name: str, fixed: dict[str, str]) -> str:
        """Return what stands for a name: a template, a word, a verb in a form, or a number."""
        draw = self._rng
        if name in fixed:
            return fixed[name]
        if name == "N":
            whole = draw.choice((draw.randrange(1, 99), draw.randrange(1, 999), draw.randrange(1000, 99_999)))
            return f"{whole:,}" + (f".{draw.randrange(1, 99)}" if whole < 1000 and draw.random() < 0.3 else "")
        if name == "ns":
            return _plural(draw.choice(self._templates["n"] + self._templates["who"]))
        kind, _, form = name.partition(".")
        found = draw.choice(self._templates[kind])
        return f"({form} {inflected(found.split(), form)})" if form else found


def constructed(trees: Sequence[Tree], n: int, seed: int) -> list[Tree]:
    """Return 4 n trees made from templates, and from sentences and phrases of trees."""
    builder = Builder(random.Random(seed), trees)
    return [builder.tree(kind) for kind, share in KINDS.items() for _ in range(share * n)]


def read_templates() -> dict[str, list[str]]:
    """Return the templates and words by name."""
    found = defaultdict[str, list[str]](list)
    for line in TEMPLATES.read_text(encoding="utf8").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(": ")
            found[name] += rest.split(" | ")
    return dict(found)


def inflected(verb: Sequence[str], form: str) -> str:
    """Return a form of a verb: its base, or base, past and participle."""
    base = verb[0]
    if form in ("VBD", "VBN"):
        regular = base[:-1] + "ied" if base.endswith("ry") else base + ("d" if base.endswith("e") else "ed")
        return verb[1 if form == "VBD" else 2] if len(verb) > 1 else _doubled(base, regular)
    if form == "VBZ":
        return _plural(base)
    if form == "VBG":
        stem = base if base == "see" else base.removesuffix("e")
        return "lying" if base == "lie" else _doubled(base, f"{stem}ing")
    return base


def _doubled(base: str, regular: str) -> str:
    """Return a form with the last letter of a short verb twice: chopped, running."""
    is_short = re.fullmatch(r"[^aeiou]*[aeiou][bdgmnpt]", base) is not None
    return base + base[-1] + regular[len(base) :] if is_short else regular


def _plural(word: str) -> str:
    irregular = {"mouse": "mice", "thief": "thieves"}
    if word in irregular:
        return irregular[word]
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(s|x|sh|ch)$", word) else "s")


def _joined(parts: Iterable[Tree]) -> str:
    return " ".join(map(str, parts))


def _is_plain(node: Tree) -> bool:
    first, *_, last = node.tags
    return first not in {",", ":", "``", "''", "-LRB-", "CC", "SYM", "LS"} and last[0] == "N" and "$" not in node.tags


def _can_be_quoted(node: Tree) -> bool:
    """Whether a sentence is short, has no quotes, and begins with its subject or something before it."""
    labels = [child.label for child in node.children]
    return (
        4 <= len(node.words) <= MAX_WORDS
        and not {"``", "''", "-LRB-", ":"} & set(node.tags)
        and labels[-1] == "."
        and (node.label != "S" or (labels[0] in ("NP", "PP", "ADVP", "SBAR") and "VP" in labels and "CC" not in labels))
    )
