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
from spacy_incparse.linear.templates import POSITION_FIELDS, STRUCTURE_FIELDS, Field
from spacy_incparse.neural.component import make_incparse_neural
from spacy_incparse.neural.encoder import (
    create_encoder_loader,
    create_mpnet,
    create_sentence_pieces,
    create_sorted_spans,
    create_wordpiece_loader,
)
from spacy_incparse.neural.packed import create_packed_encoder
from spacy_incparse.neural.span_parser import SpanSearch
from spacy_incparse.neural.span_scorer import create_span_scorer
from spacy_incparse.papers.finkel_2008 import CrfConfig
from spacy_incparse.papers.taskar_2004 import MaxMarginConfig
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
_INHERITED, _SCORER = "as in `incparse`", "as in every spaCy component"
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
    "spacy_incparse.MPNetTransformer.v1": ("architectures", create_mpnet, create_mpnet),
    "spacy_incparse.EncoderFolder.v1": ("model_loaders", create_encoder_loader, create_encoder_loader),
    "spacy_incparse.WordpieceFolder.v1": ("model_loaders", create_wordpiece_loader, create_wordpiece_loader),
    "spacy_incparse.calibrate.v1": ("callbacks", create_calibrate, calibrate),
    "spacy_incparse.fit_steps.v1": ("callbacks", create_fit_steps, fit_steps),
    "spacy_incparse.free_memory.v1": ("callbacks", create_free_memory, free_memory),
}
WRITTEN = {  # what users seldom write themselves
    f"spacy_incparse.{name}.v1"
    for name in (
        "CandidateLists", "batch_by_pass", "const_scorer", "functions_scorer", "SentenceSplitter", "SentencePieces",
        "PackedEncoder", "MPNetTransformer", "EncoderFolder", "WordpieceFolder", "calibrate", "fit_steps",
        "free_memory",
    )
}  # fmt: skip


def documents() -> dict[str, str]:
    """Return the documents by file name."""
    return {
        "configuration.md": configuration(),
        "labels.md": labels(),
    }


def configuration() -> str:
    """Return the reference of all settings: names and defaults from signatures, descriptions from docstrings."""
    search, learning, meanings = _parser_settings()
    return _joined(
        _CONFIGURATION,
        "## `incparse`",
        _component("incparse"),
        "It also has `search` and `training`, as follows.",
        "### `[components.incparse.search]`",
        "You can change these in a trained pipeline. Those that you leave out are taken from the model.",
        search,
        "### `[components.incparse.training]`",
        learning,
        *_kinds(meanings),
        "### `[components.incparse.training.tagger]`",
        "For the parser's own tagger, for those that tag its training sentences, and for `incparse_tagger`.",
        _tagger(),
        "## `incparse_tagger`",
        _component("incparse_tagger"),
        "## `incparse_senter`",
        "`model` is the network, `spacy_incparse.SentenceSplitter.v1`.",
        "## `incparse_phrases`",
        _component("incparse_phrases"),
        "[search.md](search.md#phrases-in-docspans) shows what this component finds.",
        "## `incparse_reranker`",
        _component("incparse_reranker"),
        "### `[components.incparse_reranker.training]`",
        "[training.md](training.md#rerank-the-parses) explains them.",
        _reranking(),
        "## `incparse_functions`",
        _component("incparse_functions"),
        "[trees.md](trees.md#functions-and-empty-categories) shows what it adds.",
        "## `incparse_neural`",
        _component("incparse_neural"),
        "[neural.md](neural.md) explains this component. The settings of `search`:",
        _settings(_defaults(SpanSearch), _entries(SpanSearch)),
        "## `incparse_combiner`",
        _component("incparse_combiner"),
        "[training.md](training.md#combine-trained-pipelines) explains this component. `search` takes `threshold` and "
        '`list_size`, as with `kind = "combined"`.',
        "## Features for reranking",
        _RERANKING,
        "## Tokenizer, readers, batchers, scorers, callbacks, layers",
        *_registered(),
        "## Feature templates",
        _TEMPLATES,
        _fields(STRUCTURE_FIELDS),
        "Fields around the position:",
        _fields(POSITION_FIELDS),
    )


def _fields(group: Iterable[Field]) -> str:
    """Return a list of fields; those of one meaning share a line."""
    rows: dict[str, list[str]] = {}
    for field in group:
        names = rows.pop(field.meaning, [])  # a row stands where its last field does
        rows[field.meaning] = [*names, f"`{field.name}`"]
    return "\n".join(f"- {' '.join(names)}: {meaning}" for meaning, names in rows.items())


def _kinds(meanings: Mapping[str, str]) -> Iterator[str]:
    """Yield the introduction and the settings of each further kind of parser, after those with these meanings."""
    kinds = {
        _GENERATIVE: GenerativeConfig,
        _CHART: ChartConfig,
        _COMBINED: CombinedConfig,
    }
    said = dict(meanings)
    for introduction, config in kinds.items():
        entries = _entries(config)
        shown = {name: "as above" if text == said.get(name) else text for name, text in entries.items()}
        yield introduction
        yield _settings(dict(sorted(_defaults(config).items(), key=lambda row: shown[row[0]] == "as above")), shown)
        said |= entries
    yield _PAPERS
    papers = {"crf": (CrfConfig, "Finkel et al. (2008)"), "max_margin": (MaxMarginConfig, "Taskar et al. (2004)")}
    rows = [
        (f"`{name}`", paper, ", ".join(f"`{key}` = `{json.dumps(value)}`" for key, value in _defaults(config).items()))
        for name, (config, paper) in papers.items()
    ]
    yield _table(("kind", "paper", "settings"), rows)


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


def _joined(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _parser_settings() -> tuple[str, str, dict[str, str]]:
    """Return the tables of the parser's search settings and training settings, and what each setting means."""
    parser = _defaults(ParserConfig)
    meanings = _entries(ChoiceSettings) | _entries(ParserConfig) | dict(_COMMENT.findall(inspect.getsource(training)))
    search = {name: parser.pop(name) for name in ParserConfig.SEARCH}
    return _settings(search, meanings), _settings(training.TRAINING_DEFAULTS | parser, meanings), meanings


def _defaults(config: Any) -> dict[str, Any]:
    """Return the default of each field of a settings class."""
    return {field.name: getattr(config(), field.name) for field in fields(config)}


def _component(name: str) -> str:
    factory = FACTORIES[name]
    defaults = Language.get_factory_meta(name).default_config
    rows = {name: _shortened(name, value) for name, value in defaults.items()}
    shared = _entries(TreeSettings)
    if name != "incparse":
        shared = dict.fromkeys(shared, _INHERITED)
    meanings = shared | _entries(factory)
    return _settings({row: rows[row] for row in rows if not meanings[row].startswith("settings of ")}, meanings)


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
    """Yield a section for each function that configs of users name, and a list of those that complete configs name."""
    others = []
    for name, (registry, create, described) in REGISTERED.items():
        doc = re.sub(rf', for `@{registry} = "{re.escape(name)}"`', "", inspect.getdoc(described) or "")
        text = re.sub(r"\s*\n\s*", " ", _ENTRY.sub("", doc).strip())
        parameters = inspect.signature(create).parameters.values()
        rows = {p.name: None if p.default is p.empty else p.default for p in parameters}
        if name in WRITTEN:
            others.append(f"- `{name}` ({registry}): {text.partition('. ')[0].removeprefix('Return ').rstrip('.')}")
        else:
            yield f'### `@{registry} = "{name}"`'
            yield text
            if rows:
                yield _settings(rows, _entries(described))
    yield "### What the configs in `configs/` name"
    yield "\n".join(others)


def _entries(described: Any) -> dict[str, str]:
    """Return the description of each name, from the lines "name, name: description" of a docstring."""
    doc = inspect.getdoc(described) or ""
    found = [(names, re.sub(r"\s+", " ", text)) for names, text in _ENTRY.findall(doc)]
    return {name: text.rstrip(".") for names, text in found for name in names.split(", ")}


def _settings(rows: Mapping[str, Any], meanings: Mapping[str, str]) -> str:
    """Return a table of settings; KeyError: one has no description in the code. Inherited ones are left out.

    Settings that follow each other and have one description share a row.
    """
    cells = []
    for meaning, group in groupby(rows, meanings.__getitem__):
        names = list(group)
        if meaning not in (_INHERITED, _SCORER):
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
error that names it. `null`, here and in configs, is `None` in Python. All components but `incparse_phrases` also have
spaCy's setting `scorer`; those that parse, all settings of `incparse` but `model`, `measures` and `training`. Pictures
have [options](pictures.md#options) of their own."""

_GENERATIVE = """\
With `kind = "generative"` the model is a generative one ([design.md](design.md)), with these settings and `heads`.
Those of choice, beam and measures can be changed afterwards, in `[components.incparse.search]`:"""

_CHART = """\
With `kind = "chart"` it is a chart parser ([training.md](training.md#train-a-chart-parser)), with these settings and
`heads`. `decoding`, `threshold`, `choose_temperature` and `pruning` can be changed afterwards. `kind = "mira"` learns
with a large margin, and has `features`, `n_tags`, `clusters` and `decoding` of them:"""

_PAPERS = """\
The chart parsers of two papers also have `heads`; the docstrings of `CrfConfig` and `MaxMarginConfig` explain the
rest:"""

_COMBINED = """\
With `kind = "combined"` several parsers answer together ([training.md](training.md#combine-parsers)), with these
settings and `heads`, `seed`, `n_folds` and `tagger`. `threshold` and `list_size` can be changed afterwards:"""

_TEMPLATES = """\
`features` is the name of a set, or a dict with lists of templates under `node` (each outcome of a context), `word` (the
word under its POS node), `chain` (a whole chain of new constituents) and `close` (the end of a constituent). A template
is a list of fields, separated by spaces; `examples/small.json` is an example. Fields of a constituent, those from `FW`
on for `close` only:"""

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

They give the Penn Treebank's phrases without functions and traces, and EDITED where a transcript corrects itself. Noun
phrases are flat before their head, as in the Treebank, with few NML. Addresses of the web and of e-mail are NNP or NN,
not ADD."""

_FUNCTIONS = """\
Function tags follow the label after a hyphen. There may be several, and then an index: `NP-SBJ-1`. Treebanks have them,
parsed trees do not, because training drops them ([formats.md](formats.md))."""

_RERANKING = """\
`rerank-train --families` and the setting `families` choose families of features, by name or by group: "all", "default",
"collins", "charniak-johnson", "huang"; several are joined by commas. `spacy_incparse/rerank/features.py` defines them;
the message about an unknown name lists them."""

if __name__ == "__main__":
    for file_name, content in documents().items():
        (FOLDER / file_name).write_text(content, encoding="utf8")
