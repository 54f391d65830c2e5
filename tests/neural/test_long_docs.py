"""A sentence of 501 words in one chart and a Doc of 5,015 words need bounded memory, in parsing and in training."""

import pytest

from tests.neural.long_docs import growth, reads_peak
from tests.neural.tiny_encoder import needs_transformers, transformer_pipeline

MOST_MB = 250  # beside a pipeline that has parsed and learned a short sentence; three times what was seen

pytestmark = [reads_peak, pytest.mark.slow]


def check(found):
    assert set(found) == {"parse sentence", "update sentence", "parse Doc", "update Doc"}
    assert 0 < max(found.values()) < MOST_MB, found


def test_a_convolutional_layer(nlp, tmp_path):
    check(growth(nlp, tmp_path))


@needs_transformers
def test_a_transformer(encoder_folder, tmp_path):
    check(growth(transformer_pipeline(encoder_folder), tmp_path))
