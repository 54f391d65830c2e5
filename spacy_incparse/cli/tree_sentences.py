"""The words of given trees as sentences that a pipeline's parser can be asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import tee
from typing import TYPE_CHECKING

from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_incparse.documents.live_parsers import LiveParser
    from spacy_incparse.documents.sentences import Sentence
    from spacy_incparse.pipeline.tree_pipe import TreePipe


def doc_of_tree(nlp: Language, tree: Tree, *, with_tags: bool) -> Doc:
    """Return a Doc of one sentence, with the words of a tree and perhaps its tags; empty words become blanks."""
    from spacy.tokens import Doc

    words = [word or " " for word in tree.words]
    starts: list[bool | int | None] = [k == 0 for k in range(len(tree.words))]
    return Doc(nlp.vocab, words=words, sent_starts=starts, tags=list(tree.tags) if with_tags else None)


@contextmanager
def tree_sentences(
    nlp: Language,
    component: TreePipe,
    trees: Iterable[Tree],
    *,
    gold_tags: bool = False,
    analyser: LiveParser | None = None,
) -> Iterator[Iterator[Sentence | None]]:
    """Give the sentences of the trees' words as the components before the parser leave them; no component parses.

    A sentence is None if one of its words is whitespace or empty, which is no word of a Doc. gold_tags: the component
    parses under the trees' tags as long as the context lasts. analyser: what the sentences are for; by default the
    component.
    """
    from spacy_incparse.documents.live_parsers import names_from_parsers_on
    from spacy_incparse.pipeline.given_annotations import given

    annotations = {"token.is_sent_start", "doc.sents"} | ({"token.tag"} if gold_tags else set())
    parsing = names_from_parsers_on(nlp)  # neither their trees are needed, nor a reranker's choice
    wanted, words = tee(trees)
    with given(nlp, annotations, "doc" if gold_tags else None), nlp.select_pipes(disable=parsing):
        docs = nlp.pipe(doc_of_tree(nlp, tree, with_tags=gold_tags) for tree in words)
        yield (_sentence(tree, doc, analyser or component) for tree, doc in zip(wanted, docs, strict=True))


def _sentence(tree: Tree, doc: Doc, analyser: LiveParser) -> Sentence | None:
    sentences = analyser.sentences_of(doc)
    return sentences[0] if [tuple(sentence.words) for sentence in sentences] == [tree.words] else None
