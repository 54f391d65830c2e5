"""The weights of an encoder's folder: added layers, and the way back from spacy-curated-transformers to a file.

That package joins and renames the arrays of a file when it loads them. To undo this without a table of names, arrays
with the numbers of all values go the same way, and tell where each value comes from.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy_incparse.files import write_bytes

Tensors = dict[str, Any]
"""Tensors of PyTorch by the names that published models have."""

_LAYER = re.compile(r"(?P<before>.*encoder\.layer\.)(?P<number>\d+)(?P<name>\..+)")
_SPREAD = 0.02  # the standard deviation of new weights, as of BERT's


def deeper(weights: Tensors, n_layers: int, n_extra: int, seed: int) -> Tensors:
    """Return the weights of an encoder of `n_layers` with further layers above, which change (nearly) nothing yet.

    The weights that end the two halves of a new layer are 0, so that it only normalizes what it is given; the others
    are random, as in an encoder before it has learned anything.
    """
    import torch

    random = torch.Generator().manual_seed(seed)
    found = dict(weights)
    for name, tensor in weights.items():
        match = _LAYER.fullmatch(name)
        if match is None or int(match["number"]) != n_layers - 1:
            continue
        for number in range(n_layers, n_layers + n_extra):
            found[f"{match['before']}{number}{match['name']}"] = _new(match["name"], tensor, random)
    return found


def _new(name: str, like: Any, random: Any) -> Any:
    import torch

    if name.endswith("LayerNorm.weight"):
        return torch.ones_like(like)
    if name.endswith("bias") or name.endswith("output.dense.weight"):
        return torch.zeros_like(like)
    return torch.randn(like.shape, generator=random) * _SPREAD


def published_weights(transformer: Any, weights: Tensors) -> Tensors:
    """Return the present weights of a transformer under the names and in the shapes of `weights`, which it had before.

    Arrays that it does not have, such as those of a layer for a whole text, stay the same.
    """
    import torch
    from curated_transformers.models.hf_util import convert_pretrained_model_for_encoder

    numbers, n_values = {}, 0
    for name, tensor in weights.items():
        numbers[name] = torch.arange(n_values, n_values + tensor.numel()).reshape(tensor.shape)
        n_values += tensor.numel()
    values = torch.cat([tensor.reshape(-1).double() for tensor in weights.values()])
    state = transformer.state_dict()
    for name, places in convert_pretrained_model_for_encoder(transformer, numbers).items():
        values[places.reshape(-1)] = state[name].detach().cpu().reshape(-1).double()
    return {name: values[numbers[name]].to(tensor.dtype) for name, tensor in weights.items()}


def write_encoder(folder: Path, source: Path, weights: Tensors, n_layers: int) -> None:
    """Write an encoder's folder: the files of another one with other weights and, perhaps, another number of layers."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_file() and path.suffix not in (".safetensors", ".bin", ".pt"):
            shutil.copyfile(path, folder / path.name)
    config = json.loads((source / "config.json").read_text(encoding="utf8")) | {"num_hidden_layers": n_layers}
    write_bytes(folder / "config.json", (json.dumps(config, indent=2) + "\n").encode())
    write_bytes(folder / "model.safetensors", safetensors(weights))


def safetensors(weights: Mapping[str, Any]) -> bytes:
    """Return tensors in the format that `read_safetensors` reads."""
    arrays = {name: tensor.float().contiguous().numpy() for name, tensor in weights.items()}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    n_bytes = 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [n_bytes, n_bytes + array.nbytes]}
        n_bytes += array.nbytes
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return b"".join(
        [len(head).to_bytes(8, "little"), head, *(array.astype("<f4").tobytes() for array in arrays.values())]
    )
