"""Pre-trained transformers from a local folder, for `spacy-curated-transformers`, without a download."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from spacy.tokens import Doc, Token
from spacy.util import SimpleFrozenDict
from thinc.api import Model, Ragged, get_array_module

from spacy_incparse.errors import ConfigError, ModelError
from spacy_incparse.settings import MOST, check_choice, check_number, check_range

_ACTIVATIONS = ("relu", "gelu", "gelu_new")  # of spacy-curated-transformers
_TYPES = {  # the layers of an encoder's type, and its pieces
    "bert": ("spacy-curated-transformers.BertTransformer.v1", "spacy-curated-transformers.BertWordpieceEncoder.v1"),
    "roberta": ("spacy-curated-transformers.RobertaTransformer.v1", "spacy-curated-transformers.ByteBpeEncoder.v1"),
    "mpnet": ("spacy_incparse.MPNetTransformer.v1", "spacy-curated-transformers.BertWordpieceEncoder.v1"),
}
_SIZES = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size")
_TYPED = {"bert": "type_vocab_size", "roberta": "type_vocab_size", "mpnet": "relative_attention_num_buckets"}
_SHARES = ("attention_probs_dropout_prob", "hidden_dropout_prob", "layer_norm_eps")
_RENAMED = {
    "hidden_size": "hidden_width",
    "intermediate_size": "intermediate_width",
    "pad_token_id": "padding_idx",
    "relative_attention_num_buckets": "n_buckets",
}
_SPECIAL = {"unk_piece": "unk_token", "bos_piece": "cls_token", "eos_piece": "sep_token"}  # there and in files
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_NUMBERS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}
_NO_SETTINGS = SimpleFrozenDict()
Loader = Callable[..., Any]
"""A callback that initializes a thinc model: it takes the model and samples, and returns the model."""


def create_encoder_loader(path: str | Path | None) -> Loader:
    """Return a callback that loads an encoder's weights, for `@model_loaders = "spacy_incparse.EncoderFolder.v1"`.

    path: the folder of the encoder: a BERT, a RoBERTa, or an MPNet (`spacy_incparse.MPNetTransformer.v1`, which has the
        settings of a RoBERTa, and `n_buckets`, the number of biases by distance).
    """
    return partial(_load_weights, encoder_folder(path))


def create_wordpiece_loader(path: str | Path | None) -> Loader:
    """Return a callback that loads an encoder's pieces, for `@model_loaders = "spacy_incparse.WordpieceFolder.v1"`.

    path: the folder of the encoder.
    """
    return partial(_load_pieces, encoder_folder(path))


def create_mpnet(
    *, vocab_size: int, with_spans: Callable[..., Model], piece_encoder: Model,
    attention_probs_dropout_prob: float = 0.1, hidden_act: str = "gelu", hidden_dropout_prob: float = 0.1,
    hidden_width: int = 768, intermediate_width: int = 3072, layer_norm_eps: float = 1e-5,
    max_position_embeddings: int = 514, model_max_length: int = 512, num_attention_heads: int = 12,
    num_hidden_layers: int = 12, padding_idx: int = 1, type_vocab_size: int = 1, n_buckets: int = 32,
    torchscript: bool = False, mixed_precision: bool = False, grad_scaler_config: Mapping[str, Any] = _NO_SETTINGS,
    wrapped_listener: Model | None = None,
) -> Model:  # fmt: skip
    """Return an MPNet, for `@architectures = "spacy_incparse.MPNetTransformer.v1"`.

    The settings are those of `spacy-curated-transformers.RobertaTransformer.v1`, and n_buckets, the number of biases by
    distance (`relative_attention_num_buckets` in config.json).
    """
    from curated_transformers.models.roberta import RobertaConfig
    from spacy_curated_transformers.models.architectures import (
        _pytorch_encoder,
        build_transformer_or_listener_wrapper_v1,
    )

    from spacy_incparse.neural.mpnet import MPNetEncoder

    config = RobertaConfig(
        embedding_width=hidden_width, hidden_width=hidden_width, intermediate_width=intermediate_width,
        num_attention_heads=num_attention_heads, num_hidden_layers=num_hidden_layers,
        attention_probs_dropout_prob=attention_probs_dropout_prob, hidden_dropout_prob=hidden_dropout_prob,
        hidden_act=hidden_act, vocab_size=vocab_size, type_vocab_size=type_vocab_size,
        max_position_embeddings=max_position_embeddings, model_max_length=model_max_length,
        layer_norm_eps=layer_norm_eps, padding_idx=padding_idx,
    )  # fmt: skip
    transformer = _pytorch_encoder(
        MPNetEncoder(config, n_buckets), hidden_width=hidden_width, mixed_precision=mixed_precision,
        grad_scaler_config=dict(grad_scaler_config),
    )  # fmt: skip
    return build_transformer_or_listener_wrapper_v1(
        with_spans=with_spans, piece_encoder=piece_encoder, transformer=transformer, wrapped_listener=wrapped_listener
    )


def _load_weights(folder: Path, model: Any, X: Any = None, Y: Any = None) -> Any:  # noqa: N803  # thinc's names
    set_weights(model.shims[0]._model, *read_weights(folder))
    return model


def _load_pieces(folder: Path, model: Any, X: Any = None, Y: Any = None) -> Any:  # noqa: N803  # thinc's names
    from curated_tokenizers import ByteBPEProcessor, WordPieceProcessor

    if "byte_bpe_processor" in model.attrs:
        model.attrs["byte_bpe_processor"] = ByteBPEProcessor(*_byte_pairs(folder, model.attrs))
        return model
    settings = _piece_settings(folder)
    # A special token is published as a string, or as an object with its content.
    tokens = {name: settings.get(key, model.attrs[name]) for name, key in _SPECIAL.items()}
    special = {name: token.get("content") if isinstance(token, dict) else token for name, token in tokens.items()}
    lowercase, strip_accents = settings["do_lower_case"], settings["strip_accents"]
    strip_accents = lowercase if strip_accents is None else strip_accents
    processor = WordPieceProcessor(_pieces(folder, special))
    model.attrs.update(special, wordpiece_processor=processor, lowercase=lowercase, strip_accents=strip_accents)
    return model


def encoder_folder(path: str | Path | None) -> Path:
    """Return the folder of an encoder. Raises ModelError if it is not one.

    The folder has the files that models are usually published with: config.json, model.safetensors or
    pytorch_model.bin, and tokenizer.json or vocab.txt. PyTorch is only imported when weights are loaded.
    """
    if path is None:
        raise ModelError("the encoder has no path: set one, as in --paths.encoder FOLDER")
    folder = Path(path)
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: an encoder's folder has a file config.json with the sizes of its layers")
    return folder


def encoder_sizes(path: str | Path) -> tuple[dict[str, Any], str]:
    """Return the settings of an encoder's layers, with their architecture, and the architecture of its pieces.

    Raises ModelError for encoders of other types than BERT, RoBERTa and MPNet.
    """
    folder = encoder_folder(path)
    config = _json(folder / "config.json")
    kind = config.get("model_type")
    if kind not in _TYPES:
        raise ModelError(
            f"{folder}: the encoder's type is {kind!r}; {', '.join(_TYPES)} are read from a folder. For others, "
            f"change configs/neural_transformer.cfg as the documentation of spacy-curated-transformers shows"
        )
    layers, pieces = _TYPES[kind]
    sizes = (*_SIZES, _TYPED[kind])
    try:
        for name in sizes:
            check_number(name, config[name], 1, MOST)
        check_number("pad_token_id", config["pad_token_id"], 0, config["vocab_size"] - 1)
        n_before = 0 if kind == "bert" else config["pad_token_id"] + 1  # places before that of the first piece
        least = n_before + 3  # a piece and two markers
        check_number("max_position_embeddings", config["max_position_embeddings"], least, MOST)
        for name in _SHARES:
            check_range(name, config[name], 0, 1)
        check_choice("hidden_act", config["hidden_act"], _ACTIVATIONS)
        width, n_heads = config["hidden_size"], config["num_attention_heads"]
        if width % n_heads:
            raise ConfigError(f"hidden_size is {width}: it must be a multiple of num_attention_heads, {n_heads}")
    except KeyError as error:
        raise ModelError(f"{folder / 'config.json'}: the setting {error} is missing") from None
    except ConfigError as error:
        raise ModelError(f"{folder / 'config.json'}: {error}") from None
    names = (*sizes, "pad_token_id", "max_position_embeddings", *_SHARES, "hidden_act")
    settings = {_RENAMED.get(name, name): config[name] for name in names}
    length = config["max_position_embeddings"] - n_before
    return settings | {"@architectures": layers, "model_max_length": length}, pieces


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file in the format safetensors: the length of a JSON header, the header, the numbers.

    Raises ModelError if the file is damaged or has numbers of an unknown type.
    """
    data = path.read_bytes()
    n_header = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + n_header])
        body = memoryview(data)[8 + n_header :]
        found = {}
        for name, entry in header.items():
            if name != "__metadata__":
                first, last = entry["data_offsets"]
                found[name] = np.frombuffer(body[first:last], _NUMBERS[entry["dtype"]]).reshape(entry["shape"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: the file cannot be read: {type(error).__name__}: {error}") from None
    return found


def read_weights(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the file of an encoder's weights, and the tensors in it; no other object in it is ever made."""
    path = next((folder / name for name in _WEIGHTS if (folder / name).is_file()), None)
    if path is None:
        raise ModelError(f"{folder}: there are no weights: neither {' nor '.join(_WEIGHTS)}")
    import torch

    if path.name == _WEIGHTS[0]:
        return path, {name: torch.from_numpy(array.copy()) for name, array in read_safetensors(path).items()}
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what reading a damaged file raises depends on its bytes
        raise ModelError(
            f"{path}: the file cannot be read ({type(error).__name__}): it is damaged, or has more than tensors in it, "
            f"which is not loaded; use a model.safetensors instead"
        ) from error
    if isinstance(found, dict) and all(isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in found.items()):
        return path, found
    raise ModelError(f"{path}: these are no weights: the file must have tensors, each under its name")


def set_weights(encoder: Any, path: Path, weights: dict[str, Any]) -> None:
    """Set the weights of an encoder to those in a file. Raises ModelError if they do not fit."""
    from curated_transformers.models.hf_util import convert_pretrained_model_for_encoder

    biases = "relative_attention_bias.weight"  # of an MPNet
    try:
        if is_mpnet := hasattr(encoder.curated_encoder, biases.partition(".")[0]):
            from spacy_incparse.neural.mpnet import as_roberta

            weights = as_roberta(weights)
        converted = convert_pretrained_model_for_encoder(encoder, weights)
        if is_mpnet:
            converted[f"curated_encoder.{biases}"] = weights[f"encoder.{biases}"]
    except (KeyError, RuntimeError) as error:  # an array is missing, or those to be joined have different shapes
        raise ModelError(f"{path}: these are not the weights of such an encoder: {error!r}") from None
    found, needed = (
        {name: tuple(tensor.shape) for name, tensor in tensors.items()} for tensors in (converted, encoder.state_dict())
    )
    for name in (*needed, *found):
        if found.get(name) != needed.get(name):
            raise ModelError(
                f"{path}: the weights do not fit the encoder's sizes in config.json: {name} is "
                f"{found.get(name, 'absent')}, and should be {needed.get(name, 'absent')}"
            )
    encoder.load_state_dict(converted)


def _pieces(folder: Path, special: Mapping[str, Any]) -> list[str]:
    """Return the pieces of a BERT tokenizer in the order of their numbers.

    special: pieces that have to be among them. Raises ModelError if they are not, or if the encoder cannot have vectors
    for the pieces.
    """
    path, numbered = _numbered_pieces(folder)
    pieces = [piece for _, piece in numbered]
    for name, piece in special.items():
        if piece not in pieces:
            raise ModelError(
                f"{path}: there is no piece {piece!r}: add it, or name another one as {_SPECIAL[name]} in "
                f"tokenizer_config.json"
            )
    if [number for number, _ in numbered] != list(range(len(pieces))):
        raise ModelError(f"{path}: the pieces do not have the numbers 0, 1, 2 and so on, each one once")
    n_vectors = _json(folder / "config.json").get("vocab_size")
    if isinstance(n_vectors, int) and len(pieces) > n_vectors:
        raise ModelError(f"{path}: there are {len(pieces)} pieces, but vocab_size in config.json is {n_vectors}")
    return pieces


def _numbered_pieces(folder: Path) -> tuple[Path, list[tuple[int, str]]]:
    """Return the file of a tokenizer's pieces, and the pieces with their numbers."""
    path = folder / "tokenizer.json"
    if path.is_file():
        try:
            return path, sorted((number, piece) for piece, number in _json(path)["model"]["vocab"].items())
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{path}: these are not the pieces of a BERT model: {error!r}") from None
    path = folder / "vocab.txt"
    if path.is_file():
        return path, list(enumerate(_text(path).rstrip("\n").split("\n")))
    raise ModelError(f"{folder}: there are no pieces: neither tokenizer.json nor vocab.txt")


def _byte_pairs(folder: Path, special: Mapping[str, Any]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the pieces of a RoBERTa tokenizer with their numbers, and the pairs that are merged, in their order.

    special: attributes with the names of pieces that have to be there. Raises ModelError for damaged files.
    """
    path = folder / "tokenizer.json"
    try:
        if path.is_file():
            model = _json(path)["model"]
            pieces, merges = model["vocab"], model["merges"]
        else:
            path = folder / "vocab.json"
            if not path.is_file():
                raise ModelError(f"{folder}: there are no pieces: neither tokenizer.json nor vocab.json and merges.txt")
            pieces, path = _json(path), folder / "merges.txt"
            merges = [line for line in _text(path).split("\n") if line and not line.startswith("#version")]
        pairs = [(first, second) for first, second in (m.split(" ") if isinstance(m, str) else m for m in merges)]
        missing = [special[name] for name in _SPECIAL if special[name] not in pieces]
        if missing:
            raise ValueError(f"there is no piece {missing[0]!r}")
        return {piece: int(number) for piece, number in pieces.items()}, pairs
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        raise ModelError(f"{path}: these are not the pieces of a RoBERTa model: {error!r}") from None


def _piece_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a BERT tokenizer, with defaults for those that decide what a word's pieces are."""
    path = folder / "tokenizer_config.json"
    settings = {"do_lower_case": True, "strip_accents": None} | (_json(path) if path.is_file() else {})
    for name, possible in (("do_lower_case", (True, False)), ("strip_accents", (True, False, None))):
        if settings[name] not in possible:
            raise ModelError(f"{path}: {name} is {settings[name]!r}: it must be true or false")
    return settings


def _json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file."""
    try:
        content = json.loads(_text(path))
    except ValueError as error:
        raise ModelError(f"{path}: this is not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise ModelError(f"{path}: expected a JSON object with settings, but this is {content!r:.40}")
    return content


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: this is not UTF-8: {error.reason} at byte {error.start}") from None


# The layers of spacy-curated-transformers see a Doc as one text: a word's vector depends on the sentences around it,
# and on where a window happens to begin. A parser that learned from single sentences is far less accurate on such
# vectors. Here the encoder of pieces returns a list of sentences for each Doc, and the layer that cuts them into spans
# (`sorted_spans.py`) joins their vectors again. Both only change what a layer computes: its name, its attributes and
# its weights stay where loaders and saved pipelines expect them.
PREPROCESS = "preprocess"  # the attribute of wordpiece encoders that splits a token before it is cut into pieces
MAX_PART, MAX_TOKEN = 100, 1000  # longer parts of a token, as in BERT's tokenizer, and longer tokens are unknown
UNKNOWN = "\0"  # no piece has this character

Pieces = Any
"""A Ragged: the pieces of tokens or their vectors, with the markers of the beginning and the end around them."""


def create_sentence_pieces(pieces: Model) -> Model:
    """Return an encoder of pieces by sentence, for `@architectures = "spacy_incparse.SentencePieces.v1"`.

    A component before the transformer has to set the sentence boundaries, such as the splitter, also in training
    (`annotating_components`); a Doc without boundaries is encoded as one sentence. Needs `WithSortedSpans.v1`.

    pieces: the encoder, such as `spacy-curated-transformers.BertWordpieceEncoder.v1`.
    """
    pieces._func = partial(_encode, pieces._func)
    if PREPROCESS in pieces.attrs:
        pieces.attrs[PREPROCESS] = partial(_split_token, pieces.attrs[PREPROCESS])
    return pieces


def join_sentences(with_spans: Model) -> Model:
    """Make the layer that cuts Docs into spans also take lists of sentences; it returns one output for each Doc."""
    with_spans._func = partial(_join, with_spans._func)
    return with_spans


def _encode(
    encode: Callable, model: Model, docs: Sequence[Doc], is_train: bool
) -> tuple[list[list[Pieces]], Callable[[Any], list]]:
    groups = [_sentences(doc) for doc in docs]
    found, _ = encode(model, [sentence for group in groups for sentence in group], is_train)
    return list(_grouped(found, groups)), lambda gradient: []  # pieces have no gradient


def _split_token(split: Callable[[str], list[str]], token: str) -> list[str]:
    """Split a token at its punctuation. Parts that are too long are unknown: to cut them into pieces is slow."""
    if len(token) > MAX_TOKEN:
        return [UNKNOWN]
    return [part if len(part) <= MAX_PART else UNKNOWN for part in split(token)]


def _sentences(doc: Doc | Sequence[Token]) -> Sequence[Any]:
    """Return the sentences of a Doc; if it has no tokens or boundaries, or is a list of tokens, all of it."""
    return list(doc.sents) if isinstance(doc, Doc) and len(doc) and doc.has_annotation("SENT_START") else [doc]


def _join(
    cut: Callable, model: Model, given: list[Pieces] | list[list[Pieces]], is_train: bool
) -> tuple[Any, Callable[[list[list[Pieces]]], list]]:
    if not given or not isinstance(given[0], list):
        return cut(model, given, is_train)
    output, from_output = cut(model, [sentence for group in given for sentence in group], is_train)
    outputs = _grouped(output.all_outputs, given)
    output.all_outputs = [[_joined(layer) for layer in zip(*group, strict=True)] for group in outputs]

    def backprop(gradient: list[list[Pieces]]) -> list:
        parts = (
            zip(*(_parted(layer, group) for layer in layers), strict=True)
            for layers, group in zip(gradient, given, strict=True)
        )
        return from_output([list(layers) for sentences in parts for layers in sentences])

    return output, backprop


def _grouped(items: Sequence[Any], groups: Sequence[Sequence]) -> Iterator[list[Any]]:
    """Yield as many items as each group has members."""
    for first, last in pairwise(accumulate(map(len, groups), initial=0)):
        yield list(items[first:last])


def _joined(sentences: Sequence[Pieces]) -> Pieces:
    """Return the vectors of a Doc, without the markers between its sentences."""
    if len(sentences) == 1:
        return sentences[0]
    last = len(sentences) - 1
    kept = [part[i > 0 : len(part.lengths) - (i < last)] for i, part in enumerate(sentences)]
    xp = get_array_module(kept[0].dataXd)
    return Ragged(xp.concatenate([part.dataXd for part in kept]), xp.concatenate([part.lengths for part in kept]))


def _parted(joined: Pieces, sentences: Sequence[Pieces]) -> list[Pieces]:
    """Return the gradient of each sentence, given that of the Doc: 0 for the markers between sentences."""
    if len(sentences) == 1:
        return [joined]
    xp = get_array_module(joined.dataXd)
    nothing = xp.zeros((1, *joined.dataXd.shape[1:]), joined.dataXd.dtype)
    found, first, last = [], 0, len(sentences) - 1
    for i, sentence in enumerate(sentences):
        n_rows = len(sentence.dataXd) - (i > 0) - (i < last)
        rows = joined.dataXd[first : first + n_rows]
        found.append(Ragged(xp.concatenate([nothing] * (i > 0) + [rows] + [nothing] * (i < last)), sentence.lengths))
        first += n_rows
    return found


# The transformers of spacy-curated-transformers pad all spans of a batch to the longest. Where each Doc is a sentence,
# or a few, most of what they compute would be padding. Their tables of embeddings have a gradient for each piece of
# the vocabulary, whether or not a batch has it; and they compute in single precision, except on a GPU.


def create_sorted_spans(
    stride: int = 96, window: int = 128, batch_size: int = 384, least_fill: float = 0.8,
    freeze_embeddings: bool = False, frozen_layers: int = 0, bfloat16: bool = False,
) -> Callable[..., Model]:  # fmt: skip
    """Return what cuts Docs into spans, for `@architectures = "spacy_incparse.WithSortedSpans.v1"`.

    stride, window: as in `spacy-curated-transformers.WithStridedSpans.v1`, with which the results are the same.
    batch_size: the most spans that go through the transformer at a time.
    least_fill: the least length of these, as a part of the longest one's: lower values make larger groups.
    freeze_embeddings: whether the vectors of pieces and places stay as they are in training, which is faster.
    frozen_layers: how many layers, from the first, stay as they are, with the embeddings, which is faster.
    bfloat16: whether a processor that has instructions for it (AVX-512 BF16 or AMX) computes products of matrices in
        bfloat16, which is faster; the weights stay in single precision.
    """
    check_number("batch_size", batch_size, 1, MOST)
    check_range("least_fill", least_fill, 0, 1)
    check_number("frozen_layers", frozen_layers, 0, MOST)

    def with_spans(transformer: Model, **dimensions: Any) -> Model:
        from spacy_curated_transformers.models.with_strided_spans import with_strided_spans

        if transformer.ops.xp is np:  # thinc cannot train in the `mixed_precision` of a config from a GPU on a CPU
            for shim in _scaling_shims(transformer):
                shim._mixed_precision = shim._grad_scaler._enabled = False
        if freeze_embeddings:
            _freeze_embeddings(transformer)
        for shim in transformer.shims if frozen_layers else ():
            encoder = shim._model.curated_encoder
            for part in (encoder.embeddings, *encoder.layers[:frozen_layers]):  # no gradient goes through any of them
                part.requires_grad_(False)
        grouped = by_length(transformer, batch_size, least_fill, bfloat16=bfloat16)
        return join_sentences(with_strided_spans(grouped, stride=stride, window=window, batch_size=MOST))

    return with_spans


def by_length(transformer: Model, batch_size: int, least_fill: float, *, bfloat16: bool = False) -> Model:
    """Return a layer that hands its input, a list of arrays, to another one in groups of similar lengths."""
    attrs = {"batch_size": batch_size, "least_fill": least_fill}
    forward = partial(_forward, bfloat16)  # no attribute, which would be saved with the weights and outlive the config
    return Model("by_length", forward, init=_init, layers=[transformer], attrs=attrs)


def length_groups(lengths: Sequence[int], batch_size: int, least_fill: float) -> list[np.ndarray]:
    """Return the places of lengths in groups, longest first; see `create_sorted_spans`."""
    order = np.argsort(-np.asarray(lengths, np.int64), kind="stable")
    groups, first = [], 0
    for place, number in enumerate(order.tolist()):
        if place - first == batch_size or lengths[number] < least_fill * lengths[order[first]]:
            groups.append(order[first:place])
            first = place
    return [*groups, order[first:]] if len(order) else []


def _forward(
    bfloat16: bool, model: Model, spans: list[Any], is_train: bool
) -> tuple[Any, Callable[[list[Any]], list[Any]]]:
    (transformer,) = model.layers
    _limit_threads(os.getpid())
    groups = length_groups([len(span) for span in spans], model.attrs["batch_size"], model.attrs["least_fill"])
    with _precision(bfloat16):
        found = [transformer([spans[i] for i in group], is_train) for group in groups]

    def backprop(gradient: list[Any]) -> list[Any]:
        parts = []
        for group, (_, back) in zip(groups, found, strict=True):
            with _gradients_aside(transformer):
                parts.append(back([gradient[i] for i in group]))
        return _restored(parts, groups)

    output = found[0][0]
    outputs = _restored([one.all_outputs for one, _ in found], groups)
    return type(output)(outputs=outputs, last_layer_only=output.last_layer_only), backprop


@contextmanager
def _gradients_aside(transformer: Model) -> Iterator[None]:
    """Add the gradients of the context to those before it, if precision is mixed.

    Then thinc scales the gradient, and scales those of all weights back after each backward pass, also what they have
    from passes before.
    """
    shims = _scaling_shims(transformer)
    weights = [weight for shim in shims if shim._grad_scaler._enabled for weight in shim._model.parameters()]
    before = [weight.grad for weight in weights]
    for weight in weights:
        weight.grad = None
    yield
    for weight, gradient in zip(weights, before, strict=True):
        if gradient is not None:
            weight.grad = gradient if weight.grad is None else weight.grad + gradient


@cache
def _limit_threads(process: int) -> None:
    """Compute with one thread in a worker of `nlp.pipe(n_process=2)`: PyTorch would wait for the parent's threads.

    process: the number of this process. A forked worker has the caches of its parent.
    """
    if multiprocessing.parent_process() is not None:
        import torch

        torch.set_num_threads(1)


def _precision(bfloat16: bool) -> AbstractContextManager:
    """Return the context in which a transformer and its backward pass are computed: bfloat16 where that is fast."""
    if not (bfloat16 and computes_in_bfloat16()):
        return nullcontext()
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16)


@cache
def computes_in_bfloat16() -> bool:
    """Return whether the processor has instructions for bfloat16: emulation would be slower than single precision."""
    import torch

    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # not public; older versions lack some
    return any(getattr(torch.cpu, name, bool)() for name in names)


def _scaling_shims(transformer: Model) -> list[Any]:
    return [shim for node in transformer.walk() for shim in node.shims if hasattr(shim, "_grad_scaler")]


def _freeze_embeddings(transformer: Model) -> None:
    """Take the tables of embeddings out of training. Raises ConfigError if there are none."""
    import torch

    tables = [
        part for shim in transformer.shims for part in shim._model.modules() if isinstance(part, torch.nn.Embedding)
    ]
    if not tables:
        raise ConfigError("freeze_embeddings = true needs a transformer with tables of embeddings; this one has none")
    for table in tables:
        table.weight.requires_grad_(False)


def _restored(parts: Sequence[Sequence[Any]], groups: Sequence[np.ndarray]) -> list[Any]:
    """Return the items of all groups in the order of the spans."""
    items = [item for part in parts for item in part]
    return [items[i] for i in np.argsort(np.concatenate(groups), kind="stable").tolist()]


def _init(model: Model, X: Any = None, Y: Any = None) -> Model:  # noqa: N803  # thinc passes them by name
    model.layers[0].initialize(X=X, Y=Y)
    return model
