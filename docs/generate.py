"""Write the documents that are generated from the code: configuration.md and labels.md.

python docs/generate.py
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any

from spacy.language import Language

from spacy_incparse import glossary
from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.documents.gold import const_score, create_const_scorer
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.linear.templates import POSITION_FIELDS, STRUCTURE_FIELDS
from spacy_incparse.neural.component import make_incparse_neural
from spacy_incparse.neural.encoder import (
    create_encoder_loader,
    create_sentence_pieces,
    create_sorted_spans,
    create_wordpiece_loader,
)
from spacy_incparse.neural.packed import create_packed_encoder
from spacy_incparse.neural.span_parser import SpanSearch
from spacy_incparse.neural.span_scorer import create_span_scorer
from spacy_incparse.papers.finkel_2008 import CrfConfig
from spacy_incparse.papers.taskar_2004 import MaxMarginConfig
from spacy_incparse.parsing.combination import CombinerSearch
from spacy_incparse.parsing.combined_kind import CombinedConfig
from spacy_incparse.parsing.nbest import ChoiceSettings
from spacy_incparse.pipeline.combiner import make_incparse_combiner
from spacy_incparse.pipeline.functions import create_functions_scorer, functions_score, make_incparse_functions
from spacy_incparse.pipeline.parser import make_incparse
from spacy_incparse.pipeline.phrases import make_incparse_phrases
from spacy_incparse.pipeline.registered import (
    TreebankReader,
    batch_by_pass,
    calibrate,
    create_calibrate,
    create_fit_steps,
    create_free_memory,
    create_list_reader,
    create_pass_batcher,
    create_treebank_reader,
    fit_steps,
    free_memory,
)
from spacy_incparse.pipeline.reranker import make_incparse_reranker
from spacy_incparse.pipeline.splitter import create_sentence_splitter, make_incparse_senter
from spacy_incparse.pipeline.tagger import make_incparse_tagger
from spacy_incparse.pipeline.tokenizer import create_penn_tokenizer, create_treebank_tokenizer, penn_tokenizer
from spacy_incparse.pipeline.tree_pipe import TreeSettings
from spacy_incparse.rerank import features as families
from spacy_incparse.rerank import training as rerank_settings
from spacy_incparse.tagging.tagger import Tagger
from spacy_incparse.training import settings as training

FOLDER = Path(__file__).parent
FACTORIES = {
    "incparse": make_incparse,
    "incparse_tagger": make_incparse_tagger,
    "incparse_senter": make_incparse_senter,
    "incparse_phrases": make_incparse_phrases,
    "incparse_reranker": make_incparse_reranker,
    "incparse_functions": make_incparse_functions,
    "incparse_neural": make_incparse_neural,
    "incparse_combiner": make_incparse_combiner,
}
_ENTRY = re.compile(r"^(\w+(?:, \w+)*): (.*(?:\n {4}.*)*)", re.MULTILINE)
_COMMENT = re.compile(r'^ {4}"(\w+)": .*?,  # (.*)$', re.MULTILINE)
# The registered functions, and the object that documents their settings; None: no settings.
REGISTERED: dict[str, tuple[str, Callable[..., Any], Any]] = {
    "spacy_incparse.PennTokenizer.v1": ("tokenizers", create_penn_tokenizer, penn_tokenizer),
    "spacy_incparse.TreebankTokenizer.v1": ("tokenizers", create_treebank_tokenizer, create_treebank_tokenizer),
    "spacy_incparse.TreebankReader.v1": ("readers", create_treebank_reader, TreebankReader),
    "spacy_incparse.CandidateLists.v1": ("readers", create_list_reader, create_list_reader),
    "spacy_incparse.batch_by_pass.v1": ("batchers", create_pass_batcher, batch_by_pass),
    "spacy_incparse.const_scorer.v1": ("scorers", create_const_scorer, const_score),
    "spacy_incparse.functions_scorer.v1": ("scorers", create_functions_scorer, functions_score),
    "spacy_incparse.SentenceSplitter.v1": ("architectures", create_sentence_splitter, create_sentence_splitter),
    "spacy_incparse.SpanScorer.v1": ("architectures", create_span_scorer, create_span_scorer),
    "spacy_incparse.SentencePieces.v1": ("architectures", create_sentence_pieces, create_sentence_pieces),
    "spacy_incparse.WithSortedSpans.v1": ("architectures", create_sorted_spans, create_sorted_spans),
    "spacy_incparse.PackedEncoder.v1": ("architectures", create_packed_encoder, create_packed_encoder),
    "spacy_incparse.EncoderFolder.v1": ("model_loaders", create_encoder_loader, create_encoder_loader),
    "spacy_incparse.WordpieceFolder.v1": ("model_loaders", create_wordpiece_loader, create_wordpiece_loader),
    "spacy_incparse.calibrate.v1": ("callbacks", create_calibrate, calibrate),
    "spacy_incparse.fit_steps.v1": ("callbacks", create_fit_steps, fit_steps),
    "spacy_incparse.free_memory.v1": ("callbacks", create_free_memory, free_memory),
}


def documents() -> dict[str, str]:
    """Return the documents by file name."""
    return {
        "configuration.md": configuration(),
        "labels.md": labels(),
    }


def configuration() -> str:
    """Return the reference of all settings: names and defaults from signatures, descriptions from docstrings."""
    search, learning = _parser_settings()
    return _joined(
        _CONFIGURATION,
        "## `incparse`",
        _component("incparse"),
        "### `[components.incparse.search]`",
        "You can change these in a trained pipeline. Settings that you leave out are taken from the model.",
        search,
        "### `[components.incparse.training]`",
        "These are only used in training.",
        learning,
        *_kinds(),
        "### `[components.incparse.training.tagger]`",
        "The settings of the parser's own tagger, and of the taggers that tag its training sentences.",
        _tagger(),
        "## `incparse_tagger`",
        _component("incparse_tagger"),
        "`training` takes the settings of `[components.incparse.training.tagger]`.",
        "## `incparse_senter`",
        _component("incparse_senter"),
        "## `incparse_phrases`",
        _component("incparse_phrases"),
        "[search.md](search.md#phrases-in-docspans) shows what this component finds.",
        "## `incparse_reranker`",
        _component("incparse_reranker"),
        "### `[components.incparse_reranker.training]`",
        "These are only used in training. [training.md](training.md#rerank-the-parses) explains them.",
        _reranking(),
        "## `incparse_functions`",
        _component("incparse_functions"),
        "[trees.md](trees.md#functions-and-empty-categories) shows what it adds.",
        "## `incparse_neural`",
        _component("incparse_neural"),
        "### `[components.incparse_neural.search]`",
        "[neural.md](neural.md) explains this component.",
        _settings(_defaults(SpanSearch), _entries(SpanSearch)),
        "## `incparse_combiner`",
        _component("incparse_combiner"),
        "### `[components.incparse_combiner.search]`",
        "[training.md](training.md#combine-trained-pipelines) explains this component.",
        _settings(_defaults(CombinerSearch), _entries(CombinerSearch)),
        "## Features for reranking",
        _RERANKING,
        _table(("group", "families"), _family_groups()),
        "## Tokenizer, readers, batchers, scorers, callbacks, layers",
        *_registered(),
        "## Feature templates",
        _TEMPLATES,
        _table(("field", "value"), [(f"`{field.name}`", field.meaning) for field in STRUCTURE_FIELDS]),
        "Fields around the position:",
        _table(("field", "value"), [(f"`{field.name}`", field.meaning) for field in POSITION_FIELDS]),
    )


def _kinds() -> Iterator[str]:
    """Yield the introduction and the settings of each further kind of parser."""
    kinds = {
        _GENERATIVE: GenerativeConfig,
        _CHART: ChartConfig,
        _CRF: CrfConfig,
        _MAX_MARGIN: MaxMarginConfig,
        _COMBINED: CombinedConfig,
    }
    for text, config in kinds.items():
        yield text
        yield _settings(_defaults(config), _entries(config))


def labels() -> str:
    """Return the glossary of labels."""
    tags = {tag: glossary.explain(tag) or "" for tag in (*glossary.TAGS, *glossary.OTHER_TAGS)}
    roots = [f"`{root}`" for root in glossary.ROOTS]
    return _joined(
        _LABELS,
        "## Phrases",
        _terms(glossary.PHRASES),
        f"{', '.join(roots[:-1])} and {roots[-1]} are other names of `TOP`.",
        "## Parts of speech",
        _table(("tag", "meaning"), [(f"`` {tag} ``" if "`" in tag else f"`{tag}`", tags[tag]) for tag in tags]),
        "## Function tags",
        _FUNCTIONS,
        _terms(glossary.FUNCTIONS),
    )


def _family_groups() -> Iterable[tuple[str, str]]:
    """Yield the groups of families that have families of their own, with their names."""
    left = dict.fromkeys(families.FAMILIES)
    for name, group in families.GROUPS.items():
        own = [family for family in group if family in left]
        if name not in ("all", "default") and own:
            yield f"`{name}`", ", ".join(f"`{family}`" for family in own)
            for family in own:
                del left[family]


def _joined(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _parser_settings() -> tuple[str, str]:
    """Return the tables of the parser's search settings and training settings."""
    parser = _defaults(ParserConfig)
    meanings = _entries(ChoiceSettings) | _entries(ParserConfig) | dict(_COMMENT.findall(inspect.getsource(training)))
    search = {name: parser.pop(name) for name in ParserConfig.SEARCH}
    return _settings(search, meanings), _settings(training.TRAINING_DEFAULTS | parser, meanings)


def _defaults(config: Any) -> dict[str, Any]:
    """Return the default of each field of a settings class."""
    return {field.name: getattr(config(), field.name) for field in fields(config)}


def _component(name: str) -> str:
    factory = FACTORIES[name]
    defaults = Language.get_factory_meta(name).default_config
    rows = {name: _shortened(name, value) for name, value in defaults.items()}
    shared = _entries(TreeSettings)
    if name != "incparse":
        shared = dict.fromkeys(shared, "as in `incparse`") | {"scorer": shared["scorer"]}
    return _settings(rows, shared | _entries(factory))


def _shortened(name: str, value: Any) -> Any:
    """Return a default, abbreviated for settings that have their own table."""
    return {} if name in ("training", "search") or (isinstance(value, dict) and name == "model") else value


def _reranking() -> str:
    return _settings(rerank_settings.RERANK_DEFAULTS, dict(_COMMENT.findall(inspect.getsource(rerank_settings))))


def _tagger() -> str:
    parameters = inspect.signature(Tagger.train).parameters.values()
    rows = {p.name: p.default for p in parameters if p.default is not p.empty and p.name != "progress"}
    return _settings(rows, _entries(Tagger.train))


def _registered() -> Iterable[str]:
    for name, (registry, create, described) in REGISTERED.items():
        doc = inspect.getdoc(described) or ""
        text = _ENTRY.sub("", doc).strip()
        parameters = inspect.signature(create).parameters.values()
        rows = {p.name: None if p.default is p.empty else p.default for p in parameters}
        yield f'### `@{registry} = "{name}"`'
        yield re.sub(rf', for `@{registry} = "{re.escape(name)}"`', "", re.sub(r"\s*\n\s*", " ", text))
        if rows:
            yield _settings(rows, _entries(described))


def _entries(described: Any) -> dict[str, str]:
    """Return the description of each name, from the lines "name, name: description" of a docstring."""
    doc = inspect.getdoc(described) or ""
    found = [(names, re.sub(r"\s+", " ", text)) for names, text in _ENTRY.findall(doc)]
    return {name: text.rstrip(".") for names, text in found for name in names.split(", ")}


def _settings(rows: Mapping[str, Any], meanings: Mapping[str, str]) -> str:
    """Return a table of settings; KeyError: one has no description in the code. Those of `incparse` are left out.

    Settings that follow each other and have one description share a row.
    """
    cells = []
    for meaning, group in groupby(rows, meanings.__getitem__):
        names = list(group)
        if meaning != "as in `incparse`":
            defaults = (json.dumps(rows[name], ensure_ascii=False) for name in names)
            cells.append([", ".join(f"`{word}`" for word in words) for words in (names, defaults)] + [meaning])
    return _table(("setting", "default", "meaning"), cells)


def _terms(terms: Mapping[str, glossary.Term]) -> str:
    return _table(("label", "meaning", "example"), [(f"`{label}`", *term) for label, term in terms.items()])


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles, *lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in (head, *rows)]
    return "\n".join([titles, re.sub(r"[^|]+", "---", titles), *lines])


_CONFIGURATION = """\
# Configuration

<!-- written by docs/generate.py from the code: change the docstrings there -->
This page lists all settings of the components with their defaults. Pass them to `nlp.add_pipe("incparse",
config={...})`, or write them into the block `[components.incparse]` of a config for `spacy train`. The settings of
training can also go into the `.json` file that `spacy-incparse train --config` takes. `configs/` contains complete
configs, in which every setting appears with its value. [training.md](training.md) explains when to change what, and
[guide.md](guide.md#speed-up-parsing) how to trade accuracy for speed. An unknown setting or a wrong value raises an
error that names it. `null`, here and in configs, is `None` in Python. Pictures have options of their own:
[pictures.md](pictures.md#options)."""

_GENERATIVE = """\
With `kind = "generative"` the model is a generative one ([design.md](design.md)). It has the following settings and
`heads`. You can change the settings of the beam and of measures afterwards, in `[components.incparse.search]`:"""

_CHART = """\
With `kind = "chart"` the model is a chart parser ([training.md](training.md#train-a-chart-parser)). It has the
following settings and `heads`. You can change `decoding`, `threshold`, `choose_temperature` and `pruning`
afterwards, in `[components.incparse.search]`. `kind = "mira"` learns with a large margin, and has `features`, `n_tags`,
`clusters` and `decoding` of them:"""

_CRF = """\
With `kind = "crf"` the model is the chart parser of Finkel et al. (2008). It has the following settings and `heads`:"""

_MAX_MARGIN = """\
With `kind = "max_margin"` it is that of Taskar et al. (2004), with the following settings and `heads`:"""

_COMBINED = """\
With `kind = "combined"` several parsers answer together ([training.md](training.md#combine-parsers)). The settings
are the following ones and `heads`, `seed`, `n_folds` and `tagger`. You can change `threshold` and `list_size`
afterwards:"""

_TEMPLATES = """\
`features` is the name of a set, or a dict with lists of templates under `node` (each outcome of a context), `word` (the
word under its POS node), `chain` (a whole chain of new constituents) and `close` (the end of a constituent). A template
is a list of fields, separated by spaces; `examples/small.json` is an example. Fields of a constituent:"""

_LABELS = """\
# Labels

<!-- written by docs/generate.py from spacy_incparse/glossary.py -->
The labels of Penn-style trees. In Python, call `spacy_incparse.explain`:

```python
import spacy_incparse

for label in ("SBAR", "VBZ", "NP-SBJ-1", "-PRP"):
    print(label, "|", spacy_incparse.explain(label))
print(spacy_incparse.explain("QQ"))
```

```text
SBAR | clause after a subordinating conjunction or a wh-word
VBZ | verb, 3rd person singular present
NP-SBJ-1 | noun phrase; subject
-PRP | purpose or reason
None
```

Parts of speech have the explanations of spaCy's glossary (`spacy.explain`), which also covers other treebanks.
`component.labels` returns the labels that a trained parser can produce, and `component.label_data["tags"]` its tags.

## What the English pipelines give

They give the Penn Treebank's phrases without functions and traces, and EDITED where a transcript corrects itself. Of
25,421 words of web text, `en_neural` makes 8,025 NP, 4,492 VP, 3,084 S, 2,082 PP, 749 SBAR, 662 ADVP, 598 ADJP, 226
WHNP, 121 SQ, 119 INTJ, 111 PRT, 106 WHADVP, 81 FRAG, 64 PRN, 63 SBARQ, 45 NML, 33 QP and 21 others: noun phrases are
flat before their head, as in the Treebank, with few NML. Addresses of the web and of e-mail are NNP or NN, not ADD."""

_FUNCTIONS = """\
Function tags follow the label after a hyphen. There may be several, and then an index: `NP-SBJ-1`. Treebanks have them,
parsed trees do not, because training drops them ([formats.md](formats.md))."""

_RERANKING = """\
`rerank-train --families` and the setting `families` choose among these, by name or by group: "all", "default",
"collins", "charniak-johnson", "huang"; several are joined by commas. `spacy_incparse/rerank/features.py` defines
them."""

if __name__ == "__main__":
    for file_name, content in documents().items():
        (FOLDER / file_name).write_text(content, encoding="utf8")
