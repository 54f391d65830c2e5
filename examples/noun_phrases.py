"""List the noun phrases of a text that hold no other noun phrase, with their places in it.

usage: python examples/noun_phrases.py TEXT_FILE

Prints one line a phrase: first character, character behind the last one, the label of the phrase around it, the text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc, Span

import spacy_incparse
from spacy_incparse.trees.tree import Tree


def noun_phrases(doc: Doc) -> Iterator[tuple[Span, Tree]]:
    """Yield each innermost noun phrase of a parsed Doc as a Span, with its node."""
    for sentence, tree in zip(doc.sents, doc._.trees, strict=True):
        tokens = [token for token in sentence if not token.is_space]  # the words of the tree
        for node in tree.preorder():
            if node.label == "NP" and not any(below.label == "NP" for below in list(node.preorder())[1:]):
                yield doc[tokens[node.start].i : tokens[node.end - 1].i + 1], node


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf8")
    for span, node in noun_phrases(spacy_incparse.load("en")(text)):
        outer = node.parent.label if node.parent else ""
        print(span.start_char, span.end_char, outer, span.text, sep="\t")
