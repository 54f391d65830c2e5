"""An encoder that reads texts of a domain before it is trained for a task: it learns to guess hidden words in them.

Encoders are better at texts of the kind that they have read (Gururangan et al. 2020, "Don't stop pretraining"); and
those made for comparing whole sentences have forgotten much about words, which they learn again here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from spacy_incparse.encoders.encoder_weights import deeper, published_weights, write_encoder
from spacy_incparse.encoders.masked_words import KEPT, MARKER, Masking, PieceSentence, batches
from spacy_incparse.errors import ModelError
from spacy_incparse.memory import RELEASED_EVERY, release_memory
from spacy_incparse.pipeline.encoder_folder import (
    create_wordpiece_loader,
    encoder_folder,
    encoder_sizes,
    piece_numbers,
    read_weights,
    set_weights,
)
from spacy_incparse.pipeline.sorted_spans import bfloat16_precision
from spacy_incparse.settings import MOST, check_number, check_range

WARM_UP = 0.06  # the part of training in which the learning rate grows
WEIGHT_DECAY, LARGEST_GRADIENT = 0.01, 1.0
LONGEST = 256  # pieces of a sentence
_AT_ONCE = 1000  # sentences that are cut into pieces


@dataclass(frozen=True)
class AdaptationSettings:
    """How an encoder reads texts.

    passes: how often it reads them. extra_layers: layers to add above its own. learn_rate: the highest; it grows from
    0, and falls to 0 at the end. share: the part of the words that it has to guess. batch_pieces: pieces in a batch,
    with padding. seed: of what is random: the order of sentences, hidden words, dropout and added layers.
    """

    passes: int = 4
    extra_layers: int = 0
    learn_rate: float = 0.0005
    share: float = 0.2
    batch_pieces: int = 1500
    seed: int = 0

    def __post_init__(self) -> None:
        check_number("passes", self.passes, 1, MOST)
        check_number("extra_layers", self.extra_layers, 0, MOST)
        check_number("batch_pieces", self.batch_pieces, 1, MOST)
        check_range("learn_rate", self.learn_rate, 0, 1)


def piece_sentences(folder: Path, sentences: Iterable[Sequence[str]]) -> Iterator[PieceSentence]:
    """Yield sentences, given as words, in the pieces of an encoder. Raises ModelError if these cannot be read.

    Of long sentences, the beginning is left: as many pieces as the encoder has places for, or `LONGEST`.
    """
    import spacy
    from spacy.tokens import Doc
    from spacy_curated_transformers.tokenization.wordpiece_encoder import build_bert_wordpiece_encoder_v1

    encoder, vocab, remaining = build_bert_wordpiece_encoder_v1(), spacy.blank("xx").vocab, iter(sentences)
    create_wordpiece_loader(folder)(encoder)
    longest = min(LONGEST, encoder_sizes(folder)["max_position_embeddings"])
    while some := [Doc(vocab, words=list(words)) for words in islice(remaining, _AT_ONCE)]:
        for found in encoder.predict(some):
            words = np.repeat(np.arange(len(found.lengths)) - 1, found.lengths)
            words[0] = words[-1] = MARKER
            pieces = np.asarray(found.dataXd, np.int64).reshape(-1)
            yield PieceSentence(pieces[:longest], words[:longest])


class EncoderAdaptation:
    """An encoder and what it needs to learn from sentences, pass by pass.

    Raises ModelError if the encoder cannot be read.
    """

    def __init__(self, folder: Path, sentences: Sequence[PieceSentence], settings: AdaptationSettings):
        import torch
        from curated_transformers.models.bert import BertConfig, BertEncoder
        from curated_transformers.models.curated_transformer import CuratedTransformer

        self.settings = settings
        self._source, self._sentences = encoder_folder(folder), sentences
        torch.manual_seed(settings.seed)
        sizes = encoder_sizes(folder)
        self.n_layers = sizes["num_hidden_layers"] + settings.extra_layers
        path, weights = read_weights(self._source)
        self._weights = deeper(weights, sizes["num_hidden_layers"], settings.extra_layers, settings.seed)
        config = BertConfig(**sizes | {"num_hidden_layers": self.n_layers, "embedding_width": sizes["hidden_width"]})
        self.transformer = CuratedTransformer(BertEncoder(config))
        set_weights(self.transformer, path, self._weights)
        self.guesser = _guesser(sizes["hidden_width"], sizes["vocab_size"])
        numbers = piece_numbers(self._source)
        if "[MASK]" not in numbers:
            raise ModelError(f"{folder}: the encoder has no piece [MASK], so it cannot guess hidden words")
        self._masking = Masking(settings.share, numbers["[MASK]"], sizes["padding_idx"], sizes["vocab_size"])
        parameters = [*self.transformer.parameters(), *self.guesser.parameters()]
        self.optimizer = torch.optim.AdamW(parameters, lr=settings.learn_rate, weight_decay=WEIGHT_DECAY)

    def learn(self, number: int, on_batch: Callable[[], object]) -> float:
        """Make a pass, the `number`th of all, from 1; return the mean loss of a hidden piece, in nats.

        on_batch: called after each batch. What is random depends on the seed and on `number` alone.
        """
        import torch

        torch.manual_seed(self.settings.seed + number)
        rng = self._random(number)
        found = self._batches(rng)
        self.transformer.train()
        losses = []
        for done, batch in enumerate(found):
            self._set_rate((number - 1 + done / len(found)) / self.settings.passes)
            losses.append(self._update([self._sentences[i] for i in batch], rng))
            if done % RELEASED_EVERY == 0:
                release_memory()
            on_batch()
        return float(np.mean([loss for loss in losses if loss is not None] or [0.0]))

    def n_batches(self, number: int) -> int:
        """Return the number of batches of a pass."""
        return len(self._batches(self._random(number)))

    def _random(self, number: int) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, number])

    def _batches(self, rng: np.random.Generator) -> list[list[int]]:
        lengths = [len(sentence.pieces) for sentence in self._sentences]
        return batches(lengths, self.settings.batch_pieces, rng)

    def _set_rate(self, done: float) -> None:
        """Set the learning rate; done: the part of all passes that is behind."""
        factor = min(1.0, done / WARM_UP) * (1 - done)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learn_rate * factor

    def _update(self, sentences: Sequence[PieceSentence], rng: np.random.Generator) -> float | None:
        import torch

        hidden = self._masking.hide(sentences, rng)
        pieces, targets = torch.from_numpy(hidden.pieces), torch.from_numpy(hidden.targets).reshape(-1)
        chosen = targets != KEPT
        if not chosen.any():
            return None
        encoder = self.transformer.curated_encoder
        with bfloat16_precision():
            vectors = self.transformer(pieces).last_hidden_layer_states.reshape(len(targets), -1)
            scores = self.guesser(vectors[chosen]) @ encoder.embeddings.word_embeddings.weight.T
        loss = torch.nn.functional.cross_entropy(scores.float() + self.guesser.bias, targets[chosen])
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.optimizer.param_groups[0]["params"], LARGEST_GRADIENT)
        self.optimizer.step()
        return loss.item()

    def save(self, folder: Path) -> None:
        """Write the encoder as a folder like the one that it was read from."""
        write_encoder(folder, self._source, published_weights(self.transformer, self._weights), self.n_layers)

    def state(self) -> dict[str, Any]:
        """Return what the next pass needs."""
        parts = {"transformer": self.transformer, "guesser": self.guesser, "optimizer": self.optimizer}
        return {name: part.state_dict() for name, part in parts.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.transformer.load_state_dict(state["transformer"])
        self.guesser.load_state_dict(state["guesser"])
        self.optimizer.load_state_dict(state["optimizer"])


def _guesser(width: int, n_pieces: int) -> Any:
    """Return the layers between the vectors and the products with those of all pieces, and the bias of each piece.

    Published encoders often lack them. To begin with, the vectors go through unchanged.
    """
    import torch

    class Guesser(torch.nn.Sequential):
        def __init__(self) -> None:
            first = torch.nn.Linear(width, width)
            torch.nn.init.eye_(first.weight)
            torch.nn.init.zeros_(first.bias)
            super().__init__(first, torch.nn.GELU(), torch.nn.LayerNorm(width))
            self.bias = torch.nn.Parameter(torch.zeros(n_pieces))

    return Guesser()
