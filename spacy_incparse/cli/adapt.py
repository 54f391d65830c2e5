"""`adapt`: let a pre-trained encoder read texts of a domain before a parser is trained on it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_incparse.cli.annotate import IdField, TextField, corpus_files
from spacy_incparse.cli.options import NoTags, SkipBad, open_treebank
from spacy_incparse.cli.progress import progress_bar
from spacy_incparse.cli.training_folder import is_free
from spacy_incparse.errors import IncparseError
from spacy_incparse.files import check_writable
from spacy_incparse.treebanks.treebank_files import SUFFIXES

if TYPE_CHECKING:
    from spacy_incparse.corpora.records import Document
    from spacy_incparse.encoders.adaptation import AdaptationSettings

BRACKETS = "brackets"
_BRACKET_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix != ".txt")
HEADER = "pass    loss  seconds"


def adapt_command(
    encoder: Annotated[Path, typer.Argument(metavar="ENCODER", help="Folder of a BERT-like pre-trained transformer.")],
    paths: Annotated[
        list[str], typer.Argument(metavar="INPUT... OUTPUT", help="What it shall read; the folder of the new encoder.")
    ],
    passes: Annotated[int, typer.Option("--passes", min=1, help="How often the texts are read.")] = 4,
    extra_layers: Annotated[
        int, typer.Option("--extra-layers", min=0, metavar="N", help="Layers to add above the encoder's own.")
    ] = 0,
    learn_rate: Annotated[float, typer.Option("--learn-rate", help="The highest learning rate.")] = 0.0005,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of what is random.")] = 0,
    input_format: Annotated[
        str,
        typer.Option(
            "--input-format",
            metavar="FORMAT",
            help="brackets, text, lines, jsonl, conllu or parquet. Default: by file name.",
        ),
    ] = "auto",
    text_field: TextField = "text",
    id_field: IdField = "id",
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language code of spaCy's tokenizer, for texts.")] = "en",
    skip_bad: SkipBad = False,
    no_tags: NoTags = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after the last finished pass.")] = False,
    force: Annotated[bool, typer.Option("--force", "-F", help="Replace the encoder in OUTPUT.")] = False,
) -> None:
    """Let an encoder read texts of your domain, to train a more accurate parser on it.

    The encoder learns to guess hidden words in the texts. These can be the sentences of your treebank, or any others of
    the same kind, without trees: bracket files, and all that `annotate` reads. Needs PyTorch: pip install
    "spacy-incparse[transformers]". Train on the new encoder with train --config neural --encoder OUTPUT.

    \b
    Examples:
      spacy-incparse adapt minilm train.mrg minilm-mine
      spacy-incparse adapt minilm train.mrg articles/ minilm-mine --passes 8 --extra-layers 2
    """
    from spacy_incparse.cli.neural_train import check_transformers

    *inputs, output = paths
    if not inputs:
        raise IncparseError(f"what to read or where to write is missing: only {output!r} is given")
    check_transformers()
    from spacy_incparse.encoders.adaptation import AdaptationSettings

    settings = AdaptationSettings(passes=passes, extra_layers=extra_layers, learn_rate=learn_rate, seed=seed)
    out = Path(output)
    _check_out(out, encoder, resume=resume, force=force)
    trees, others = _divided(inputs, input_format)
    sentences = chain(
        (tree.words for tree in open_treebank(trees, skip_bad=skip_bad, no_tags=no_tags)) if trees else (),
        _text_sentences(_documents(others, input_format, (text_field, id_field)), lang) if others else (),
    )
    _adapt(encoder, sentences, out, settings, resume=resume)


def _check_out(out: Path, encoder: Path, *, resume: bool, force: bool) -> None:
    """Raise IncparseError rather than lose what is in a folder."""
    from spacy_incparse.encoders.adaptation_state import STATE

    check_writable(out)
    if out.resolve() == encoder.resolve():
        raise IncparseError(f"{out} is the encoder itself: name another folder for the new one")
    if resume and force:
        raise IncparseError("--resume and --force exclude each other")
    if is_free(out) or resume:
        return
    go_on = ", continue with --resume," if (out / STATE).exists() else ""
    if not force:
        raise IncparseError(
            f"there is already something in {out}: name another folder{go_on} or replace it with --force"
        )
    if not ((out / STATE).exists() or (out / "config.json").is_file()):
        raise IncparseError(f"{out} is no encoder, so --force does not replace it: name another folder")
    (out / STATE).unlink(missing_ok=True)


def _adapt(
    encoder: Path, sentences: Iterable[Sequence[str]], out: Path, settings: AdaptationSettings, *, resume: bool
) -> None:
    from spacy_incparse.encoders.adaptation import EncoderAdaptation, piece_sentences
    from spacy_incparse.encoders.adaptation_state import AdaptationState, checksum

    pieces = list(piece_sentences(encoder, sentences))
    if not pieces:
        raise IncparseError("there are no sentences to read")
    adaptation = EncoderAdaptation(encoder, pieces, settings)
    state = AdaptationState(out, checksum(adaptation, pieces))
    n_finished = state.restore(adaptation) if resume else 0
    n_pieces = sum(len(sentence.pieces) for sentence in pieces)
    typer.echo(f"{len(pieces):,} sentences of {n_pieces:,} pieces, {adaptation.n_layers} layers\n{HEADER}")
    try:
        for number in range(n_finished + 1, settings.passes + 1):
            started = time.perf_counter()
            with progress_bar(desc=f"pass {number}", total=adaptation.n_batches(number)) as bar:
                loss = adaptation.learn(number, bar.update)
            state.save(adaptation, number)
            n_finished = number
            typer.echo(f"{number:4d} {loss:7.3f} {time.perf_counter() - started:8.1f}")
    except KeyboardInterrupt:
        kept = "finished passes are saved, --resume continues after them" if n_finished else "no pass is finished yet"
        raise KeyboardInterrupt(kept) from None
    adaptation.save(out)
    state.forget()
    typer.echo(f"The encoder is in {out}")


def _divided(inputs: Sequence[str], input_format: str) -> tuple[list[str], list[str]]:
    """Return the paths of bracket files, and the others."""
    trees = [path for path in inputs if input_format == BRACKETS or (input_format == "auto" and _has_trees(path))]
    return trees, [path for path in inputs if path not in trees]


def _has_trees(path: str) -> bool:
    return path.lower().removesuffix(".gz").endswith(_BRACKET_SUFFIXES)


def _documents(inputs: Sequence[str], input_format: str, fields: tuple[str, str]) -> Iterator[Document]:
    """Yield the documents of a corpus, and say which ones cannot be read."""
    from spacy_incparse.corpora.reader_settings import Fields
    from spacy_incparse.corpora.readers import check_readers, find_reader, read_files
    from spacy_incparse.corpora.records import Unreadable

    files, reader = list(corpus_files(inputs, input_format)), find_reader(input_format)
    check_readers(files, reader)
    for item, _ in read_files(files, reader, Fields(*fields)):
        if isinstance(item, Unreadable):
            typer.echo(f"left out: {item.id}: {item.reason}", err=True)
        else:
            yield item


def _text_sentences(documents: Iterator[Document], lang: str) -> Iterator[list[str]]:
    from spacy_incparse.cli.recipe import blank_pipeline

    nlp = blank_pipeline(lang)
    nlp.add_pipe("sentencizer")
    nlp.max_length = sys.maxsize  # spaCy's limit is for parsers and entity recognizers
    for document in documents:
        if document.words:
            starts = [i for i, is_start in enumerate(document.sent_starts) if is_start or i == 0]
            yield from (list(document.words[a:b]) for a, b in pairwise([*starts, len(document.words)]))
        else:
            yield from ([token.text for token in sentence] for sentence in nlp(document.text).sents)
