"""The component `incparse_senter`, which finds sentences: a small network looks at every place between two words."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import SentenceRecognizer
from spacy.pipeline.senter import senter_score
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, Model, NumpyOps

from spacy_incparse.documents.sentences import has_sentence_bounds
from spacy_incparse.errors import IncparseError
from spacy_incparse.tokens import detokenize
from spacy_incparse.workers import batches

ATTRIBUTES: Any = (
    "LOWER SHAPE PREFIX SUFFIX IDX LENGTH SPACY IS_SPACE IS_PUNCT IS_TITLE IS_UPPER IS_LOWER IS_DIGIT".split()
)
BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
STOPS, BULLETS, QUOTES, OPENING, CLOSING = (
    np.array([get_string_id(text) for text in texts.split()], np.uint64)
    for texts in (". ! ? ... … ?! !? !! ?? 。 ！ ？", "- * • · ‣ ▪ ◦ – —", '"', "( [ { “ « „", ") ] } ” »")
)
REACH = 4  # words on each side
MULTIPLIERS = np.random.RandomState(0).randint(1 << 62, size=6, dtype=np.int64).astype(np.uint64) | np.uint64(1)
N_TOKENS = 5_000  # looked at together, in whole Docs
BATCH = 1_000  # tokens between two updates of the network
RATE = 0.01
DROPPED = 0.2  # of the features in training
N_SENTENCES = 10_000  # learning goes over so many, but no more than `MOST_PASSES` times over the same
LEAST_PASSES, MOST_PASSES = 3, 8


class Places:
    """The places before the words of Docs.

    words: the index of each word among the tokens of all Docs. is_first: whether it is the first of its Doc.
    is_paragraph: whether a blank line is before it, or it is the bullet of an item. columns: the features, each an
    array with a value per place.
    """

    def __init__(self, docs: Sequence[Doc]):
        sizes = [len(doc) for doc in docs]
        tokens: Any = np.concatenate([doc.to_array(ATTRIBUTES) for doc in docs]).reshape(-1, len(ATTRIBUTES))
        tokens[np.repeat([doc.has_unknown_spaces for doc in docs], sizes), 6] = 1
        is_space = tokens[:, 7] == 1
        breaks = np.zeros(len(tokens) + 1, np.int64)  # the number of line breaks before each token
        breaks[1:][is_space] = [len(BREAK.findall(docs[0].vocab.strings[low])) for low in tokens[is_space, 0]]
        breaks = np.cumsum(breaks)
        self.words = words = np.flatnonzero(~is_space)
        step, n_breaks = np.diff(words, prepend=0), np.diff(breaks[words], prepend=0)
        doc_of = np.repeat(np.arange(len(docs)), sizes)[words]
        self.is_first = np.diff(doc_of, prepend=-1) > 0
        n_breaks[self.is_first] = 0
        is_item = np.isin(tokens[words, 0], BULLETS) & (tokens[words, 6] == 1) & (n_breaks == 1)
        self.is_paragraph = (n_breaks > 1) | is_item
        self.columns = self._columns(tokens[words], n_breaks > 0, step > 1) if len(words) else []

    def _columns(self, tokens: np.ndarray, is_broken: np.ndarray, is_wide: np.ndarray) -> Iterator[np.ndarray]:
        low, shape, prefix, suffix, start, length, spacy = tokens.T[:7]
        n, at = len(tokens), np.arange(len(tokens))
        starts = self.is_first | self.is_paragraph  # of paragraphs, beyond which nothing is seen
        paragraph = np.cumsum(starts) - 1
        first = np.flatnonzero(starts)[paragraph]
        last = np.append(np.flatnonzero(starts)[1:], n)[paragraph] - 1

        def seen(values: np.ndarray, k: int) -> np.ndarray:
            to = at + k
            return np.where((to >= first) & (to <= last), values[np.clip(to, 0, n - 1)], np.uint64(0))

        kind = np.where(tokens[:, 8] == 1, low, tokens[:, 9:] @ np.array([1, 2, 4, 8], np.uint64) + np.uint64(1))
        lows = {k: seen(low, k) for k in range(-REACH, REACH)}
        l3, l2, l1, r1, r2 = (seen(kind, k) for k in range(-3, 2))
        s2, s1, s0 = (seen(shape, k) for k in range(-2, 1))
        gap = np.where(is_broken, 3, np.where(is_wide, 2, seen(spacy, -1)))
        # Lines: a line break says little where the next word would not have fitted.
        is_line = starts | is_broken
        line, lines = np.cumsum(is_line) - 1, np.flatnonzero(is_line)
        begin, end = start.astype(np.int64), (start + length).astype(np.int64)
        width = end[np.append(lines[1:], n) - 1] - begin[lines]
        widest = np.maximum.reduceat(width, line[np.flatnonzero(starts)])[paragraph]
        before = np.maximum(line - 1, 0)
        room = widest - width[before] - length.astype(np.int64) - 1
        fits = np.where(is_broken, np.where(room >= 0, 2 + np.minimum(room // 6, 6), 1), 0)
        width_before, width_now = (np.where(is_broken, _coarse(width[k]), 0) for k in (before, line))
        opener, opener_before = kind[lines[line]], np.where(is_broken, kind[lines[before]], 0)
        in_line = np.minimum(at - lines[line], 3)

        # What is open since the paragraph began, and how far the next full stops are.
        def since(values: np.ndarray) -> np.ndarray:
            counts = np.cumsum(values) - values
            return counts - counts[first]

        is_open = since(np.isin(low, QUOTES).astype(int)) % 2
        depth = since(np.isin(low, OPENING).astype(int) - np.isin(low, CLOSING).astype(int))
        state = is_open + 2 * np.clip(depth, 0, 1)
        is_stop = np.isin(low, STOPS)
        stop_before = np.maximum.accumulate(np.where(is_stop, at, 0))[np.maximum(at - 2, 0)]
        stop_behind = np.minimum.accumulate(np.where(is_stop, at, n)[::-1])[::-1]
        back, ahead = _coarse(at - np.maximum(stop_before, first)), _coarse(np.minimum(stop_behind, last + 1) - at)
        rate = _coarse(40 * np.bincount(paragraph, is_stop) / np.bincount(paragraph))[paragraph]
        templates = [
            *((lows[k],) for k in range(-REACH, REACH)), (s2,), (s1,), (s0,), (seen(suffix, -1),), (suffix,), (prefix,),
            (l2, l1, r1), (l1, r1, r2), (l1, r1, gap), (l3, l2, l1, r1), (l2, l1, r1, r2), (lows[-1], r1),
            (lows[-2], lows[-1]), (lows[-1], lows[0]), (lows[-2], l1, r1), (l1, lows[0]), (l1, lows[0], lows[1]),
            (s2, l1, r1), (s1, r1, gap), (lows[-2], l1, lows[0]), (state, l1, r1), (state, l2, l1, r1, gap),
            (back, l1, r1), (ahead, l1, r1), (rate, l1, r1), (back, ahead, r1), (rate, back, l1),
            (fits, l1, r1), (fits, r1, r2, ahead), (width_before, l1, r1), (width_before, width_now, fits),
            (opener_before, r1, fits), (in_line, opener, l1, r1), (opener, r2, opener_before, gap),
            (lows[-3], l2, l1, r1), (s2, s1, lows[0]), (lows[-4], lows[-3], l2, l1), (s2, lows[-1], r1, r2),
        ]  # fmt: skip
        for number, parts in enumerate(templates):
            mixed = np.full(n, number + 1, np.uint64) * MULTIPLIERS[0]
            for part, multiplier in zip(parts, MULTIPLIERS[1:], strict=False):
                mixed += part.astype(np.uint64, copy=False) * multiplier
            mixed ^= mixed >> np.uint64(32)
            yield mixed * MULTIPLIERS[0]


def _coarse(values: np.ndarray) -> np.ndarray:
    """Return a coarse logarithm of numbers from 0 on."""
    return np.minimum(2 * np.log2(values + 1.0), 15).astype(np.uint64)


def create_sentence_splitter(n_bits: int = 14, width: int = 12) -> Model[list[Doc], list[np.ndarray]]:
    """Return the network of `incparse_senter`, for `@architectures = "spacy_incparse.SentenceSplitter.v1"`.

    It adds up a vector for each feature of the place before a word, and scores what is above zero in the sum. Its
    output has a row per token: the probabilities that a sentence does not, and does, begin here.
    n_bits: there are 2 ** n_bits vectors; features that hash alike share them.
    width: the size of a vector.
    """
    names = dict.fromkeys(("E", "b", "W", "c"))
    sizes = {"n_bits": n_bits, "width": width}
    return Model(
        "sentence_splitter", _forward, init=_init, params=names, attrs=sizes | {"dropout_rate": 0.0}, ops=NumpyOps()
    )


def _init(model: Any, *_: Any, **__: Any) -> None:
    width = model.attrs["width"]
    model.set_param("E", np.zeros((1 << model.attrs["n_bits"], width), "f"))
    model.set_param("b", np.ones(width, "f"))
    model.set_param("W", np.resize(np.array([1, -1], "f"), width) / width)  # half of the parts speak for a boundary
    model.set_param("c", np.full(1, -2, "f"))


def _forward(model: Any, docs: list[Doc], is_train: bool) -> tuple[list[np.ndarray], Callable]:
    vectors, above, weights, bias = (model.get_param(name) for name in ("E", "b", "W", "c"))
    places, shift = Places(docs), np.uint64(64 - model.attrs["n_bits"])
    hidden = np.tile(above, (len(places.words), 1))
    rows, masks, rate = [], [], model.attrs["dropout_rate"]
    for column in places.columns:
        row = (column >> shift).astype(np.intp)
        if is_train and rate:
            masks.append((np.random.random_sample(len(row)) >= rate).astype("f") / np.float32(1 - rate))
            hidden += vectors[row] * masks[-1][:, None]
        else:
            hidden += vectors[row]
        if is_train:
            rows.append(row)
    active = np.maximum(hidden, 0)
    chances = 1 / (1 + np.exp(-np.clip((active * weights).sum(axis=1) + bias, -30, 30)))
    chances[places.is_first], chances[places.is_paragraph] = 0, 1
    output = np.zeros((sum(map(len, docs)), 2), "f")
    output[places.words, 1] = chances
    output[:, 0] = 1 - output[:, 1]
    bounds = np.cumsum([len(doc) for doc in docs])[:-1]

    def backprop(gradients: list[np.ndarray]) -> list[Doc]:
        error = np.concatenate(gradients)[places.words, 1].astype("f")
        error[places.is_first | places.is_paragraph] = 0
        model.inc_grad("W", error @ active)
        model.inc_grad("c", error.sum(keepdims=True))
        inner = np.outer(error, weights) * (active > 0)
        model.inc_grad("b", inner.sum(axis=0))
        flat = np.concatenate(rows) if rows else np.zeros(0, np.intp)
        every = np.tile(inner, (len(rows), 1)) * (np.concatenate(masks)[:, None] if masks else 1)
        summed = [np.bincount(flat, every[:, k], len(vectors)) for k in range(vectors.shape[1])]
        model.inc_grad("E", np.stack(summed, axis=1).astype("f"))
        return docs

    return np.split(output, bounds), backprop


@Language.factory(
    "incparse_senter",
    assigns=["token.is_sent_start"],
    default_config={
        "model": {"@architectures": "spacy_incparse.SentenceSplitter.v1"},
        "scorer": {"@scorers": "spacy.senter_scorer.v1"},
    },
    default_score_weights={"sents_f": 1.0, "sents_p": 0.0, "sents_r": 0.0},
)
def make_incparse_senter(nlp: Language, name: str, model: Model, scorer: Callable | None) -> SentenceSplitter:
    """Create the component.

    model: the network.
    scorer: as in every spaCy component.
    """
    return SentenceSplitter(nlp.vocab, model, name, scorer=scorer)


class SentenceSplitter(SentenceRecognizer):
    """Sets sentence boundaries, like spaCy's `senter`: by punctuation, words, quotes and lines.

    A blank line always ends a sentence, and so does the end of a line before a bullet. What is set already stays. All
    learning is done by `initialize`, from the sentences of the training corpus, or by `learn`; `update` does nothing,
    since a corpus of trees has one sentence in a Doc, and a boundary is seen between two.
    """

    is_trainable = False  # for spaCy's loop, which asks those for losses that are

    def __init__(self, vocab: Vocab, model: Model, name: str, *, scorer: Callable | None = senter_score):
        super().__init__(vocab, model, name, overwrite=False, scorer=scorer)

    def predict(self, docs: Iterable[Doc]) -> list[np.ndarray]:
        """Return for each Doc an array with 1 for each token that begins a sentence after the first, else 0."""
        if not self.model.has_param("E"):
            raise IncparseError(
                f"the component {self.name!r} has learnt nothing: call nlp.initialize() with examples, its learn(), or "
                f"take another pipeline's, as in nlp.add_pipe('senter', source=spacy_incparse.load('en'))"
            )
        scores = (scores for group in batches(docs, N_TOKENS) for scores in self.model.predict(group))
        return [one.argmax(axis=1) for one in scores]

    def update(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, float]:
        """Do nothing: see `learn`."""
        return kwargs.get("losses") or {}

    def initialize(self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language) -> None:
        """Learn from the sentences of all examples; what was learnt before is dropped, unless there are none.

        Raises IncparseError for a component that has learnt nothing, before or now.
        """
        lines = list[str]()
        for doc in (example.reference for example in get_examples()):
            if has_sentence_bounds(doc):
                found = [
                    detokenize([token.text for token in sentence], [token.tag_ for token in sentence])[0]
                    if doc.has_unknown_spaces
                    else sentence.text
                    for sentence in doc.sents
                ]
                lines += [*found, ""] if len(found) > 1 else found
        if lines or not self.model.has_param("E"):
            self.model.initialize()
            self.learn(nlp.tokenizer, lines)

    def learn(
        self, tokenizer: Callable[[str], Doc], lines: Iterable[str], *, n_passes: int | None = None, seed: int = 0
    ) -> None:
        """Learn from sentences, one a line as in running text; what was learnt before is where it begins.

        A blank line ends a paragraph, heading or item. The sentences are put together with blanks and line breaks.
        n_passes: by default, 3, and more of a short text. Raises IncparseError if there is none.
        """
        paragraphs = list[list[str]]([[]])
        for line in lines:
            if sentence := " ".join(line.split()):
                paragraphs[-1].append(sentence)
            elif paragraphs[-1]:
                paragraphs.append([])
        n = sum(map(len, paragraphs))
        if not n:
            raise IncparseError(f"the component {self.name!r} has no sentences to learn from")
        if not self.model.has_param("E"):
            self.model.initialize()
        n_passes = n_passes or min(max(LEAST_PASSES, N_SENTENCES // n), MOST_PASSES)
        rng, state = random.Random(seed), np.random.get_state()
        optimizer = Adam(RATE, grad_clip=0.0, use_averages=False)
        passages = [passage for _ in range(n_passes) for passage in _passages(paragraphs, rng)]
        rng.shuffle(passages)
        np.random.seed(seed)
        self.model.attrs["dropout_rate"] = DROPPED
        enough = min(BATCH, sum(len(text) for text, _ in passages) // 500)  # of little text, a hundred updates
        n_seen = 0
        examples = ((tokenizer(text), starts) for text, starts in passages)
        for batch in batches(examples, enough, lambda one: len(one[0])):
            n_seen += len(batch)
            gold = [_boundaries(doc, starts) for doc, starts in batch]
            scores, backprop = self.model.begin_update([doc for doc, _ in batch])
            backprop([(found - right) / BATCH for found, right in zip(scores, gold, strict=True)])
            optimizer.learn_rate = RATE * (1.01 - n_seen / len(passages))
            self.model.finish_update(optimizer)
        self.model.attrs["dropout_rate"] = 0.0
        np.random.set_state(state)


def _boundaries(doc: Doc, starts: Sequence[int]) -> np.ndarray:
    """Return for each token whether a sentence does not, and does, begin with it, given the first characters of all."""
    ends = np.array([token.idx + len(token) for token in doc])
    gold = np.zeros(len(doc), "f")
    gold[np.searchsorted(ends, starts, side="right")] = 1
    return np.stack([1 - gold, gold], axis=1)


def _passages(paragraphs: Sequence[Sequence[str]], rng: random.Random) -> Iterator[tuple[str, list[int]]]:
    """Yield texts of several sentences, and where in them sentences begin.

    The same sentences come as running text, in lines of equal width, and as lines of their own. A sentence of words
    alone sometimes gets a full stop, so that stops are known where a treebank has none.
    """
    runs = list[list[str]]()
    for paragraph in paragraphs:  # without blank lines, it may be a whole file
        at = 0
        while at < len(paragraph):
            size = len(paragraph) if len(paragraph) <= 12 else rng.randint(1, 8)
            runs.append(list(paragraph[at : at + size]))
            at += size
    remaining = iter(runs)
    while group := list(islice(remaining, rng.randint(2, 9))):
        style, text, starts = rng.choice(STYLES), "", list[int]()
        width = rng.randint(38, 95) if style == "wrapped" else 1 << 30
        for sentences in group:
            if text and style != "running":
                text += "\n" if (len(sentences) == 1 and rng.random() < 0.6) or style == "paragraph a line" else "\n\n"
            elif text:
                text += " "
            if len(sentences) == 1 and style != "running" and rng.random() < 0.3:  # a heading or an item
                sentences = [rng.choice(MARKS) + (sentences[0].rstrip(".") or sentences[0])]
            column = 0
            for number, sentence in enumerate(sentences):
                if number and style == "sentence a line":
                    text += "\n"
                    column = 0
                for k, word in enumerate(sentence.split(" ")):
                    if column:
                        is_full = column + len(word) > width
                        text += "\n" if is_full else " "
                        column = 0 if is_full else column + 1
                    if not k:
                        starts.append(len(text))
                    text += word
                    column += len(word)
                if sentence[-1].isalnum() and rng.random() < 0.15:
                    text += "."
        if rng.random() < 0.03 and len(text.lower()) == len(text):
            text = text.lower()
        yield text, starts


MARKS = ["", "", "- ", "* ", "• ", "1. ", "2. ", "3) "]
STYLES = [*8 * ["running"], *3 * ["paragraphs"], *4 * ["wrapped"], *3 * ["paragraph a line"], "sentence a line"]
