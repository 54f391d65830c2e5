"""spaCy's standard pipeline as a baseline: tagger and dependency parser with a shared tok2vec and random weights.

Sizes are those of spaCy's own small pipelines. The speed does not depend on the weights: the parser always makes the
same number of moves per word.
"""

from __future__ import annotations

import common  # noqa: F401  before spaCy
import spacy
from spacy.language import Language

WIDTH, DEPTH = 96, 4
N_TAGS, N_LABELS = 50, 45

TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": WIDTH,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": [5000, 1000, 2500, 2500],
        "include_static_vectors": False,
    },
    "encode": {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": WIDTH,
        "depth": DEPTH,
        "window_size": 1,
        "maxout_pieces": 3,
    },
}
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "tok2vec"}
TAGGER = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "parser",
    "hidden_width": 64,
    "maxout_pieces": 2,
    "use_upper": True,
    "extra_state_tokens": False,
    "tok2vec": LISTENER,
}


def baseline() -> Language:
    """Return the initialized pipeline."""
    nlp = spacy.blank("en")
    spacy.util.fix_random_seed(0)
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    tagger = nlp.add_pipe("tagger", config={"model": TAGGER})
    parser = nlp.add_pipe("parser", config={"model": PARSER})
    for number in range(N_TAGS):
        tagger.add_label(f"T{number}")
    for number in range(N_LABELS):
        parser.add_label(f"L{number}")
    nlp.initialize()
    return nlp
