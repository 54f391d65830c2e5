"""`export`: a neural pipeline that runs without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer import Argument, Option, echo

from spacy_incparse.cli.options import open_pipeline, takes
from spacy_incparse.errors import IncparseError


@takes(
    pipeline=Argument(metavar="PIPELINE", help="A pipeline that `train --config neural --encoder FOLDER` made."),
    output=Argument(metavar="OUT", help="The folder of the new pipeline."),
    int8=Option("--int8", help="Store weights in 8 bits: a quarter of the size."),
)
def export_command(pipeline: str, output: Path, int8: bool = False) -> None:
    """Make a neural pipeline on a transformer that runs without PyTorch.

    The new pipeline has the same tokenizer, sentence boundaries and parser; NumPy computes the transformer. It needs no
    packages but those of spacy-incparse. Its transformer stays as it is: `train --from` teaches the layers above.

    \b
    Example:
      spacy-incparse export my-parser/model-best my-export --int8
    """
    from spacy_incparse.cli.recipe import save_pipeline
    from spacy_incparse.neural.component import IncNeural
    from spacy_incparse.neural.packed import export_encoder
    from spacy_incparse.neural.span_scorer import BY_SENTENCE

    if output.exists():
        raise IncparseError(f"{output} exists: name a new folder")
    nlp, parser = open_pipeline(pipeline)
    names = [name for name, _ in nlp.pipeline if nlp.get_pipe_meta(name).factory == "curated_transformer"]
    if not isinstance(parser, IncNeural) or len(names) != 1:
        raise IncparseError(
            f"{pipeline}: to be exported, a pipeline needs an incparse_neural on one curated_transformer; this one has "
            f"{', '.join(nlp.pipe_names) or 'no components'}"
        )
    transformer: Any = nlp.get_pipe(names[0])
    listening = transformer.listening_components
    if others := [name for name in listening if name != parser.name]:
        raise IncparseError(f"{pipeline}: {', '.join(others)} need the transformer, too: remove them first")
    layer = export_encoder(transformer.model, in_8_bits=int8)
    parser.model.replace_node(parser.model.get_ref("tok2vec"), layer)
    parser.model.attrs[BY_SENTENCE] = True
    nlp.remove_pipe(names[0])
    settings: Any = nlp.get_pipe_config(parser.name)
    settings["model"]["tok2vec"] = {"@architectures": "spacy_incparse.PackedEncoder.v1", "width": layer.get_dim("nO")}
    save_pipeline(nlp, output)
    echo(f"{output}: {sum(path.stat().st_size for path in output.rglob('*') if path.is_file()) / 1e6:.1f} MB")
