import numpy as np

from spacy_incparse.rerank.data import RerankingData


def random_data(seed=0, n_lists=12, most=6, n_features=15, density=0.3, n_scores=1):
    """Lists of 1 to `most` candidates with random features, scores, counts and overlaps."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, n_lists)
    blocks = [rng.random((size, n_features)) < density for size in sizes]
    rows = np.concatenate([block & ~block.all(axis=0) for block in blocks])
    n_gold = rng.integers(1, 9, n_lists).astype(np.int32)
    n_phrases = rng.integers(1, 9, len(rows)).astype(np.int32)
    most_matched = np.minimum(n_phrases, np.repeat(n_gold, sizes))
    return RerankingData(
        list_starts=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        feature_starts=np.concatenate(([0], np.cumsum(rows.sum(axis=1)))).astype(np.int64),
        features=np.nonzero(rows)[1].astype(np.int32),
        n_features=n_features,
        scores=rng.normal(size=(len(rows), n_scores)),
        n_matched=rng.integers(0, most_matched + 1).astype(np.int32),
        n_phrases=n_phrases,
        n_gold=n_gold,
        overlaps=tuple(_overlaps(rng, size) for size in sizes),
    )


def _overlaps(rng, size):
    phrases = (rng.random((size, 10)) < 0.6).astype(np.int32)
    phrases[:, 0] = 1
    return phrases @ phrases.T
