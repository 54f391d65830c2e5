"""A small reranker that is really trained, on lists of the parser of the small pipeline."""

from spacy.language import Language

from spacy_incparse.parsing.nbest import NBestSearch
from spacy_incparse.pipeline.registered import TreebankReader
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.training.preparation import tags_of
from spacy_incparse.treebanks.reader import read_treebank
from tests.small_pipeline import ASSETS, untrained

SMALL_RERANKING = {"choose": "score", "min_lists": 2, "n": 10, "learner": {"sigma": 1.0, "max_iterations": 10}}


def lists_of(nlp: Language, limit: int = 60, n: int = 10, *, with_better: bool = False) -> list[CandidateList]:
    """Return lists of the pipeline's parser for the sample treebank's dev part."""
    decoder = nlp.get_pipe("incparse").decoder
    trees = read_treebank(ASSETS / "sample-dev.mrg")[:limit]
    tags = tags_of(decoder.tagger, decoder.parser.tag_request, trees)
    search = NBestSearch(decoder.parser, with_better=with_better)
    found = [search.analyses(tree.words, row, n=n) for tree, row in zip(trees, tags, strict=True)]
    return [CandidateList(tuple(p), decoder.temperature or 1.0, tree) for p, tree in zip(found, trees, strict=True)]


def reranking_pipeline(trained: Language, **config) -> Language:
    """Return a copy of the pipeline with a trained reranker."""
    nlp = untrained().from_bytes(trained.to_bytes())
    reader = TreebankReader(ASSETS / "sample-dev.mrg", limit=20)
    nlp.get_pipe("incparse").calibrate(list(reader(nlp)))
    component = nlp.add_pipe("incparse_reranker", config={"training": SMALL_RERANKING, **config})
    component.initialize(lambda: [], lists=lists_of(nlp))
    component.calibrate(list(reader(nlp)))
    return nlp
