"""A component that parses in no time, to measure and test what is around a parser: pass this file as `--code`.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("stub_parser")

It gives each sentence a flat tree, and fails on texts with "crash". Two environment variables: STUB_SECONDS is how long
it takes for a Doc; STUB_KILL is a file, and the first process to parse ten Docs while it does not exist creates it and
kills itself.
"""

from __future__ import annotations

import os
import signal
import time
from itertools import count
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.documents.storage import write_tree
from spacy_incparse.parsing.parse import flat_tree
from spacy_incparse.trees.codec import encode

SECONDS, KILL = float(os.environ.get("STUB_SECONDS", "0")), os.environ.get("STUB_KILL", "")
_parsed = count(1)


@Language.component("stub_parser", assigns=["doc._.trees"])
def stub_parser(doc: Doc) -> Doc:
    """Write a flat tree for each sentence."""
    if any(token.text == "crash" for token in doc):
        raise RuntimeError("something is wrong here")
    if SECONDS:  # sleeping for no time gives the processor to others
        time.sleep(SECONDS)
    if KILL and next(_parsed) >= 10 and not Path(KILL).exists():
        Path(KILL).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    for sentence in split_sentences(doc):
        tree = flat_tree(sentence.words, ["X"] * len(sentence.words))
        value = encode(
            tree, sentence.char_starts, sentence.char_ends, origin=sentence.start_char, score=-1.5, source="beam"
        )
        write_tree(doc, sentence.start_char, sentence.end_char, value)
    return doc
