"""Pre-trained transformers from a local folder, for `spacy-curated-transformers`, without a download.

The folder has the files that models are usually published with: config.json, model.safetensors or pytorch_model.bin,
and tokenizer.json or vocab.txt. PyTorch is only imported when weights are loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spacy_incparse.errors import ConfigError, ModelError
from spacy_incparse.settings import MOST, check_number, check_range

_ACTIVATIONS = ("relu", "gelu", "gelu_new")  # of spacy-curated-transformers
_SPECIAL = {"unk_piece": "unk_token", "bos_piece": "cls_token", "eos_piece": "sep_token"}  # there and in files
_NUMBERS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}
Loader = Callable[..., Any]
"""A callback that initializes a thinc model: it takes the model and samples, and returns the model."""


def create_encoder_loader(path: str | Path | None) -> Loader:
    """Return a callback that loads an encoder's weights, for `@model_loaders = "spacy_incparse.EncoderFolder.v1"`.

    path: the folder of the encoder.
    """
    return partial(_load_weights, encoder_folder(path))


def create_wordpiece_loader(path: str | Path | None) -> Loader:
    """Return a callback that loads the pieces of a BERT, for `@model_loaders = "spacy_incparse.WordpieceFolder.v1"`.

    path: the folder of the encoder.
    """
    return partial(_load_pieces, encoder_folder(path))


def _load_weights(folder: Path, model: Any, X: Any = None, Y: Any = None) -> Any:  # noqa: N803  # thinc's names
    set_weights(model.shims[0]._model, *read_weights(folder))
    return model


def _load_pieces(folder: Path, model: Any, X: Any = None, Y: Any = None) -> Any:  # noqa: N803  # thinc's names
    from curated_tokenizers import WordPieceProcessor

    settings = _piece_settings(folder)
    special = {name: _piece(settings.get(key, model.attrs[name])) for name, key in _SPECIAL.items()}
    pieces = _pieces(folder, special)
    lowercase, strip_accents = settings["do_lower_case"], settings["strip_accents"]
    strip_accents = lowercase if strip_accents is None else strip_accents
    processor = WordPieceProcessor(pieces)
    model.attrs.update(special, wordpiece_processor=processor, lowercase=lowercase, strip_accents=strip_accents)
    return model


def encoder_folder(path: str | Path | None) -> Path:
    """Return the folder of an encoder. Raises ModelError if it is not one."""
    if path is None:
        raise ModelError("the encoder has no path: set one, as in --paths.encoder FOLDER")
    folder = Path(path)
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: an encoder's folder has a file config.json with the sizes of its layers")
    return folder


def encoder_sizes(path: str | Path) -> dict[str, Any]:
    """Return the settings of a BERT-like encoder for `spacy-curated-transformers.BertTransformer.v1`.

    Raises ModelError for encoders of other types.
    """
    folder = encoder_folder(path)
    config = _json(folder / "config.json")
    if config.get("model_type") != "bert":
        raise ModelError(
            f"{folder}: the encoder's type is {config.get('model_type')!r}; 'bert' is read from a folder. For others, "
            f"change configs/neural_transformer.cfg as the documentation of spacy-curated-transformers shows"
        )
    names = {"hidden_size": "hidden_width", "intermediate_size": "intermediate_width", "pad_token_id": "padding_idx"}
    same = (
        *("vocab_size", "num_attention_heads", "num_hidden_layers", "type_vocab_size", "max_position_embeddings"),
        *("layer_norm_eps", "hidden_act", "attention_probs_dropout_prob", "hidden_dropout_prob"),
    )
    try:
        sizes = {names.get(name, name): config[name] for name in (*names, *same)}
        _check_sizes(config)
    except KeyError as error:
        raise ModelError(f"{folder / 'config.json'}: the setting {error} is missing") from None
    except ConfigError as error:
        raise ModelError(f"{folder / 'config.json'}: {error}") from None
    return sizes | {"model_max_length": config["max_position_embeddings"]}


def _check_sizes(config: Mapping[str, Any]) -> None:
    """Raise ConfigError for a setting that an encoder cannot have."""
    for name in ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "type_vocab_size"):
        check_number(name, config[name], 1, MOST)
    check_number("vocab_size", config["vocab_size"], 1, MOST)
    check_number("pad_token_id", config["pad_token_id"], 0, config["vocab_size"] - 1)
    check_number("max_position_embeddings", config["max_position_embeddings"], 3, MOST)  # a piece and two markers
    for name in ("attention_probs_dropout_prob", "hidden_dropout_prob", "layer_norm_eps"):
        check_range(name, config[name], 0, 1)
    if config["hidden_act"] not in _ACTIVATIONS:
        raise ConfigError(f"hidden_act is {config['hidden_act']!r}: it must be one of {', '.join(_ACTIVATIONS)}")
    width, n_heads = config["hidden_size"], config["num_attention_heads"]
    if width % n_heads:
        raise ConfigError(f"hidden_size is {width}: it must be a multiple of num_attention_heads, {n_heads}")


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file in the format safetensors: the length of a JSON header, the header, the numbers.

    Raises ModelError if the file is damaged or has numbers of an unknown type.
    """
    data = path.read_bytes()
    n_header = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + n_header])
        body = memoryview(data)[8 + n_header :]
        return {name: _array(entry, body) for name, entry in header.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: the file cannot be read: {type(error).__name__}: {error}") from None


def _array(entry: dict[str, Any], body: memoryview) -> np.ndarray:
    first, last = entry["data_offsets"]
    return np.frombuffer(body[first:last], _NUMBERS[entry["dtype"]]).reshape(entry["shape"])


def read_weights(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the file of an encoder's weights, and the tensors in it."""
    path = folder / "model.safetensors"
    if path.is_file():
        import torch

        return path, {name: torch.from_numpy(array.copy()) for name, array in read_safetensors(path).items()}
    path = folder / "pytorch_model.bin"
    if path.is_file():
        return path, _read_tensors(path)
    raise ModelError(f"{folder}: there are no weights: neither model.safetensors nor pytorch_model.bin")


def _read_tensors(path: Path) -> dict[str, Any]:
    """Return the tensors of a file of PyTorch; no other object in it is ever made."""
    import torch

    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what reading a damaged file raises depends on its bytes
        raise ModelError(
            f"{path}: the file cannot be read ({type(error).__name__}): it is damaged, or has more than tensors in it, "
            f"which is not loaded; use a model.safetensors instead"
        ) from error
    if isinstance(found, dict) and all(isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in found.items()):
        return found
    raise ModelError(f"{path}: these are no weights: the file must have tensors, each under its name")


def set_weights(encoder: Any, path: Path, weights: dict[str, Any]) -> None:
    """Set the weights of an encoder to those in a file. Raises ModelError if they do not fit."""
    from curated_transformers.models.hf_util import convert_pretrained_model_for_encoder

    try:
        converted = convert_pretrained_model_for_encoder(encoder, weights)
    except (KeyError, RuntimeError) as error:  # an array is missing, or those to be joined have different shapes
        raise ModelError(f"{path}: these are not the weights of such an encoder: {error!r}") from None
    found, needed = _shapes(converted), _shapes(encoder.state_dict())
    for name in (*needed, *found):
        if found.get(name) != needed.get(name):
            raise ModelError(
                f"{path}: the weights do not fit the encoder's sizes in config.json: {name} is "
                f"{found.get(name, 'absent')}, and should be {needed.get(name, 'absent')}"
            )
    encoder.load_state_dict(converted)


def _shapes(tensors: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


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


def _piece_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a BERT tokenizer, with defaults for those that decide what a word's pieces are."""
    path = folder / "tokenizer_config.json"
    settings = {"do_lower_case": True, "strip_accents": None} | (_json(path) if path.is_file() else {})
    for name, possible in (("do_lower_case", (True, False)), ("strip_accents", (True, False, None))):
        if settings[name] not in possible:
            raise ModelError(f"{path}: {name} is {settings[name]!r}: it must be true or false")
    return settings


def _piece(token: Any) -> Any:
    """Return the piece of a special token, which is published as a string or as an object with its content."""
    return token.get("content") if isinstance(token, dict) else token


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
