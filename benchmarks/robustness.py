"""Check that every input gets a tree: random token sequences, and the dev parts of the treebanks.

Sequences of 1 to 60 tokens mix words of the model's language, numbers, brackets, whitespace, and strings of any Unicode
characters. Half of them go directly to the parser with random tags, known and unknown; the other half are Docs that go
through the whole pipeline. A sequence counts as wrong if an error is raised, or if the tree (or the trees of a Doc
together) does not cover exactly the tokens, except whitespace tokens of a Doc. All treebanks are parsed with the same
pipeline, whatever it was trained on; the rows of accuracy.py count flat trees of parsers trained on each treebank.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import common
from results import Table, publish
from saved_pipeline import open_pipeline, score_docs, sentence_docs, short_name
from spacy.language import Language
from spacy.tokens import Doc

from spacy_incparse.documents.tree_storage import anchored_trees
from spacy_incparse.perceptron.perceptron_parser import PerceptronParser

TABLE = Table("Robustness", ("input", "sentences", "words", "flat", "relaxed", "exceptions", "wrong trees"))
MAX_LENGTH = 60
COMMON_WORDS = (
    *("the", "a", "of", "and", "to", "in", "is", "that", "it", "for", "was", "on", "are", "as", "with", "they", "be"),
    *("at", "this", "have", "from", "or", "had", "by", "but", "not", "what", "were", "we", "when", "can", "said"),
    *("there", "an", "which", "she", "do", "how", "their", "if", "will", "up", "other", "about", "saw", "houses"),
)
PIECES = (
    *"()[]{}<>|/\\_-*%$#@&+=~^`'\".,;:!?",
    *("-LRB-", "-RRB-", "``", "''", "...", "n't", "1/2", "<s>", "(NP", "\ufeff", "\u200b", "\U0001f600", "e\u0301"),
)
SPACES = (" ", "\n", "\t", "\u00a0", "\u3000", "\r\n", "\u2028")
ODD_TAGS = ("", "X", "-NONE-", "(", "-LRB-", "A/B", "\u00e9", "TOP")


def main(argv: Sequence[str] | None = None) -> None:
    """Try one pipeline on random sequences and on treebanks."""
    arguments = _arguments(argv)
    nlp = open_pipeline(arguments.model)
    model = short_name(arguments.model)
    generator = random.Random(arguments.seed)
    half = arguments.sequences // 2
    parser = nlp.get_pipe("incparse").model.parser

    def publish_row(name: str, *cells: str) -> None:
        rows = {f"robust-{name}-{model}": cells}
        publish(TABLE, rows, common.results_file(arguments), seed=str(arguments.seed), argv=argv)

    publish_row("tags", "random words and tags", *_try_parser(parser, half, generator))
    publish_row("docs", "Docs of random words", *_try_pipeline(nlp, arguments.sequences - half, generator))
    for bank in arguments.banks:
        publish_row(bank, f"{bank}, dev part", *_try_treebank(nlp, arguments, bank))


def random_words(generator: random.Random) -> list[str]:
    """Return 1 to MAX_LENGTH non-empty tokens."""
    return [_random_word(generator) for _ in range(generator.randint(1, MAX_LENGTH))]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, banks=["wsj", "gum", "craft"], model="en")
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def _random_word(generator: random.Random) -> str:
    kind = generator.random()
    if kind < 0.4:
        return generator.choice(COMMON_WORDS)
    if kind < 0.6:
        return generator.choice(PIECES)
    if kind < 0.65:
        return generator.choice(SPACES)
    if kind < 0.75:
        return str(generator.randrange(10 ** generator.randint(1, 12)))
    if kind < 0.9:
        return "".join(generator.choices("abcdefghijklmnopqrstuvwxyzABC-'", k=generator.randint(1, 15)))
    return "".join(_random_character(generator) for _ in range(generator.randint(1, 8)))


def _random_character(generator: random.Random) -> str:
    """Return any character except a surrogate, which UTF-8 text cannot contain."""
    code = generator.randrange(sys.maxunicode + 1 - 0x800)
    return chr(code if code < 0xD800 else code + 0x800)


def _try_parser(parser: PerceptronParser, n_sequences: int, generator: random.Random) -> list[str]:
    tags = (*parser.tags, *ODD_TAGS)

    def attempt() -> Iterator[tuple[int, str, bool]]:
        words = random_words(generator)
        given = generator.choices(tags, k=len(words))
        parse = parser.parse(words, given)
        tree = parse.tree
        is_right = tree.words == tuple(words) and tree.tags == tuple(given) and tree.label == "TOP"
        yield len(words), parse.source, is_right

    return _count(attempt, n_sequences)


def _try_pipeline(nlp: Language, n_sequences: int, generator: random.Random) -> list[str]:
    def attempt() -> Iterator[tuple[int, str, bool]]:
        doc = nlp(Doc(nlp.vocab, words=random_words(generator)))
        found = anchored_trees(doc)
        covered = [word for anchored in found for word in anchored.tree.words]
        is_right = covered == [token.text for token in doc if not token.is_space]
        for anchored in found:
            yield len(anchored.tree.words), anchored.source, is_right
        if not is_right and not found:
            yield 0, "", False

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the component warns if a sentence failed and got a flat tree
        return _count(attempt, n_sequences)


def _count(attempt: Callable[[], Iterator[tuple[int, str, bool]]], n_sequences: int) -> list[str]:
    """Run attempts, each of which yields (words, source of the tree, whether it is correct) for its sentences."""
    counts: Counter[str] = Counter()
    for _ in range(n_sequences):
        try:
            found = list(attempt())
        except Exception as error:
            counts["exceptions"] += 1
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            continue
        for n_words, source, is_right in found:
            counts["sentences"] += 1
            counts["words"] += n_words
            counts[source] += 1
            counts["wrong"] += not is_right
    return [str(counts[key]) for key in ("sentences", "words", "flat", "relaxed", "exceptions", "wrong")]


def _try_treebank(nlp: Language, arguments: argparse.Namespace, bank: str) -> list[str]:
    dev = common.read_part(arguments, bank, "dev")
    scores = score_docs(dev, list(nlp.pipe(sentence_docs(nlp, dev))))  # raises an error if a tree has other words
    n_words = sum(len(tree.words) for tree in dev)
    return [str(cell) for cell in (len(dev), n_words, scores["flat"], scores["relaxed"], 0, 0)]


if __name__ == "__main__":
    main()
