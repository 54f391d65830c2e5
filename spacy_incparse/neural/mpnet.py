"""MPNet as a transformer of spacy-curated-transformers, which has none. Importing it needs PyTorch."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import torch
from curated_transformers.models.attention import AttentionMask, ScaledDotProductAttention
from curated_transformers.models.roberta import RobertaConfig, RobertaEncoder

from spacy_incparse.neural.packed import distance_buckets

_NAMES = (  # of MPNet's weights, and of RoBERTa's in the same places
    (r"^mpnet\.", ""),
    (r"\.attention\.attn\.o\.", ".attention.output.dense."),
    (r"\.attention\.attn\.q\.", ".attention.self.query."),
    (r"\.attention\.attn\.k\.", ".attention.self.key."),
    (r"\.attention\.attn\.v\.", ".attention.self.value."),
    (r"\.attention\.LayerNorm\.", ".attention.output.LayerNorm."),
)


class BiasedMask(AttentionMask):
    """A mask with a bias for each head and pair of places: (batch, heads, length, length)."""

    bias: torch.Tensor


class BiasedAttention(ScaledDotProductAttention):
    """Attention whose scores get the bias of the mask."""

    def forward(self, k: torch.Tensor, q: torch.Tensor, v: torch.Tensor, attn_mask: AttentionMask) -> torch.Tensor:
        """Return the values that each place attends to; k, q, v and the result are (batch, heads, length, width)."""
        assert isinstance(attn_mask, BiasedMask)
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]) + attn_mask.bias
        found: torch.Tensor = self.dropout(scores.softmax(dim=-1) @ v)
        return found


class MPNetEncoder(RobertaEncoder):
    """RoBERTa's layers, with one table of biases by head and distance that all layers add to their attention scores.

    Song et al. (2020); the table is that of Raffel et al. (2020). Its places count from 2, and it has no types.
    """

    def __init__(self, config: RobertaConfig, n_buckets: int) -> None:
        super().__init__(config)
        self.relative_attention_bias = torch.nn.Embedding(n_buckets, config.attention.num_attention_heads)
        for layer in self.layers:
            layer.mha.attention = BiasedAttention(dropout_prob=config.attention.dropout_prob)

    def _create_attention_mask(self, x: torch.Tensor) -> AttentionMask:
        mask = BiasedMask(x.ne(self.padding_idx))
        batch, length = x.shape
        buckets = torch.from_numpy(distance_buckets(length, self.relative_attention_bias.num_embeddings))
        bias = self.relative_attention_bias(buckets.to(x.device)).permute(2, 0, 1).unsqueeze(0)
        mask.bias = bias + mask.logit_mask.view(batch, 1, 1, length)
        return mask


def as_roberta(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights of an MPNet under the names of RoBERTa's, with one type of all zeros."""
    found = {}
    for name, weight in weights.items():
        for old, new in _NAMES:
            name = re.sub(old, new, name)
        found[name] = weight
    places = found.get("embeddings.position_embeddings.weight")
    if places is not None:
        found["embeddings.token_type_embeddings.weight"] = torch.zeros(1, places.shape[1])
    return found
