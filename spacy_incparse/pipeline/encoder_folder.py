"""Pre-trained transformers from a local folder, for `spacy-curated-transformers`, without a download.

The folder has the files that models are usually published with: config.json, model.safetensors or pytorch_model.bin,
and tokenizer.json or vocab.txt. PyTorch is only imported when weights are loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spacy_incparse.errors import ModelError

_NUMBERS = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}
Loader = Callable[..., Any]
"""A callback that initializes a thinc model: it takes the model and samples, and returns the model."""


def create_encoder_loader(path: str | Path | None) -> Loader:
    """Return a callback that loads an encoder's weights, for `@model_loaders = "spacy_incparse.EncoderFolder.v1"`.

    path: the folder of the encoder.
    """
    folder = encoder_folder(path)

    def load(model: Any, X: Any = None, Y: Any = None) -> Any:  # noqa: N803  # thinc passes them by name
        from curated_transformers.models.hf_util import convert_pretrained_model_for_encoder

        encoder = model.shims[0]._model
        encoder.load_state_dict(convert_pretrained_model_for_encoder(encoder, _weights(folder)))
        return model

    return load


def create_wordpiece_loader(path: str | Path | None) -> Loader:
    """Return a callback that loads the pieces of a BERT, for `@model_loaders = "spacy_incparse.WordpieceFolder.v1"`.

    path: the folder of the encoder.
    """
    folder = encoder_folder(path)

    def load(model: Any, X: Any = None, Y: Any = None) -> Any:  # noqa: N803  # thinc passes them by name
        from curated_tokenizers import WordPieceProcessor

        settings = _json(folder, "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
        lowercase = settings.get("do_lower_case", True)
        strip_accents = settings.get("strip_accents")
        model.attrs["wordpiece_processor"] = WordPieceProcessor(_pieces(folder))
        model.attrs["lowercase"] = lowercase
        model.attrs["strip_accents"] = lowercase if strip_accents is None else strip_accents
        for name, key in (("unk_piece", "unk_token"), ("bos_piece", "cls_token"), ("eos_piece", "sep_token")):
            model.attrs[name] = settings.get(key, model.attrs[name])
        return model

    return load


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
    config = _json(folder, "config.json")
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
    except KeyError as error:
        raise ModelError(f"{folder / 'config.json'}: the setting {error} is missing") from None
    return sizes | {"model_max_length": config["max_position_embeddings"]}


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
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: the file cannot be read: {error!r}") from None


def _array(entry: dict[str, Any], body: memoryview) -> np.ndarray:
    first, last = entry["data_offsets"]
    return np.frombuffer(body[first:last], _NUMBERS[entry["dtype"]]).reshape(entry["shape"])


def _weights(folder: Path) -> dict[str, Any]:
    import torch

    if (folder / "model.safetensors").is_file():
        arrays = read_safetensors(folder / "model.safetensors")
        return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    if (folder / "pytorch_model.bin").is_file():
        return torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
    raise ModelError(f"{folder}: there are no weights: neither model.safetensors nor pytorch_model.bin")


def _pieces(folder: Path) -> list[str]:
    """Return the pieces of a BERT tokenizer in the order of their numbers."""
    if (folder / "tokenizer.json").is_file():
        try:
            vocab = _json(folder, "tokenizer.json")["model"]["vocab"]
            return sorted(vocab, key=vocab.__getitem__)
        except (KeyError, TypeError) as error:
            raise ModelError(
                f"{folder / 'tokenizer.json'}: these are not the pieces of a BERT model: {error!r}"
            ) from None
    if (folder / "vocab.txt").is_file():
        return (folder / "vocab.txt").read_text(encoding="utf8").rstrip("\n").split("\n")
    raise ModelError(f"{folder}: there are no pieces: neither tokenizer.json nor vocab.txt")


def _json(folder: Path, name: str) -> Any:
    try:
        return json.loads((folder / name).read_text(encoding="utf8"))
    except ValueError as error:
        raise ModelError(f"{folder / name}: this is not valid JSON: {error}") from None
