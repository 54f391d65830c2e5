"""The settings of `train`, from a name or a file, and the pipeline that it creates."""

from __future__ import annotations

import configparser
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
import typer

from spacy_incparse.cli.train_options import config_names
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.files import named
from spacy_incparse.linear.templates import NAMED_SETS
from spacy_incparse.parsing.catalogue import check_search, find_kind, kind_of, recipes
from spacy_incparse.parsing.parser import Parser, ParserKind
from spacy_incparse.settings import MOST, MOST_SEED, Settings, check_number
from spacy_incparse.training.settings import (
    TRAINING_DEFAULTS,
    check_training,
    feature_names,
    head_rules,
    parser_config,
)
from spacy_incparse.treebanks.reader import read_text
from spacy_incparse.trees.heads import HeadRules

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.tagging.tagger import Tagger
    from spacy_incparse.training.preparation import TrainedModel
    from spacy_incparse.trees.tree import Tree

MAX_EPOCHS = 10
_OUTER = ("lang", "max_epochs")  # in a .json file they are next to the settings of the parser
# The component's settings that a trained pipeline takes over, and those that training sets itself.
_OPTIONS = ("set_tags", "spans_key", "required_key", "forbidden_key", "nbest", "measures", "noun_chunks")
_FINE_TUNED = ("sentencizer", "incparse_tagger", "incparse")  # the components of a pipeline that is fine-tuned
_OWN = ("factory", "model", "tags", "scorer", "training", "search")


@dataclass(frozen=True)
class Recipe:
    """All settings of a training run, checked.

    training, search: as in the component's config. options: its other settings, such as set_tags and spans_key.
    """

    lang: str
    max_epochs: int
    training: dict[str, Any]
    search: dict[str, Any]
    options: dict[str, Any]
    heads: HeadRules
    description: str
    base: TrainedModel | None = None

    @property
    def kind(self) -> ParserKind:
        """The kind of parser that is trained."""
        return find_kind(self.base.parser.kind) if self.base else kind_of(self.training)

    @property
    def parser_config(self) -> Settings:
        """The settings of the parser itself."""
        config: Settings | None = getattr(self.base.parser, "config", None) if self.base else None
        return config or parser_config(self.training | self.search)

    def train(self, trees: Sequence[Tree], dev: Sequence[Tree] = (), **run: Any) -> None:
        """Train with these settings; `run`: the other arguments of `train_parser`, which may replace them."""
        from spacy_incparse.training.loop import train_parser

        settings = {
            "kind": self.kind,
            "config": self.parser_config,
            "heads": self.heads,
            "n_folds": self.training["n_folds"],
            "tagger_settings": self.training["tagger"],
            "max_epochs": self.max_epochs,
            "seed": self.training["seed"],
            "base": self.base,
        }
        train_parser(trees, dev, **(settings | run))

    def pipeline(self, tagger: Tagger | None, parser: Parser, scores: dict[str, Any]) -> Language:
        """Return a pipeline of sentencizer, tagger and parser; the parser uses the tagger's tags.

        A parser that chooses among several tags contains the tagger, and writes the tags of its trees. A parser that
        finds its own tags also writes them.
        """
        nlp = blank_pipeline(self.lang)
        nlp.add_pipe("sentencizer")
        settings = {"training": self.training, "search": self.search}
        request = parser.tag_request
        if tagger is None or request is None or request.n_tags > 1:
            nlp.add_pipe("incparse", config={"tags": "own", "set_tags": True} | settings | self.options)
        else:
            # The parser has the tagger too: it works without the component, and tags the words that this leaves
            # untagged.
            nlp.add_pipe("incparse_tagger")
            nlp.add_pipe("incparse", config={"tags": "doc"} | settings | self.options)
            _model(nlp, "incparse_tagger").tagger = tagger
        _model(nlp, "incparse").set_weights(tagger, parser)  # no copy: these are the largest things in memory
        nlp.meta.update(name="incparse", description=f"Constituency parser, {self.description}", performance=scores)
        return nlp


def read_recipe(
    config: str,
    *,
    lang: str | None = None,
    heads: Path | None = None,
    clusters: str | None = None,
    max_epochs: int | None = None,
    seed: int | None = None,
    description: str = "trained with spacy-incparse",
    base: str | None = None,
) -> Recipe:
    """Read the settings that `config` names: a recipe, a spaCy config (.cfg) or a .json file with settings.

    The other arguments override these settings. base: a pipeline to fine-tune, whose parser settings do not change.
    Raises ConfigError for unknown settings and wrong values.
    """
    if seed is not None:
        check_number("--seed", seed, 0, MOST_SEED)
    given = _read_settings(config)
    overrides = {"heads": None if heads is None else str(heads), "clusters": clusters, "seed": seed}
    training = TRAINING_DEFAULTS | given["training"] | {k: v for k, v in overrides.items() if v is not None}
    given["lang"] = lang or given["lang"]
    given["max_epochs"] = max_epochs or given["max_epochs"]
    try:
        kind = kind_of(TRAINING_DEFAULTS | dict(given["training"]))
        if clusters is not None and "clusters" not in kind.config_type.names():
            raise ConfigError(f"--clusters {clusters}: a {kind.name} parser does not read word clusters")
        _check(given | {"training": training}, others=_OUTER if _is_json(Path(config)) else ())
        training["kind"] = kind_of(training).name
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}") from None
    blank_pipeline(given["lang"])
    if base is not None:
        return _fine_tuning(base, given["max_epochs"], training["seed"], description)
    return Recipe(
        lang=given["lang"],
        max_epochs=given["max_epochs"],
        training=training,
        search=given["search"],
        options=given["options"],
        heads=head_rules(training["heads"], given["lang"]),
        description=description,
    )


def _fine_tuning(base: str, max_epochs: int, seed: int, description: str) -> Recipe:
    """Return the settings of a trained pipeline. Raises IncparseError if it cannot be fine-tuned."""
    from spacy_incparse.cli.options import open_pipeline
    from spacy_incparse.pipeline.parser import IncParser
    from spacy_incparse.training.preparation import TrainedModel

    nlp, component = open_pipeline(base)
    if not isinstance(component, IncParser):
        raise IncparseError(
            f"the trees of the pipeline {base!r} come from the component {component.name!r}, but only an 'incparse' "
            f"or 'incparse_neural' can be fine-tuned: name a pipeline whose last parser is one, such as 'en'"
        )
    parser = component.decoder.model_parser
    find_kind(parser.kind).fine_tuner(parser)  # raises its error before trees are read
    others = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory not in _FINE_TUNED]
    if others:
        typer.echo(f"The new pipeline will not have the components {', '.join(others)} of {base}", err=True)
    return Recipe(
        lang=nlp.lang or "xx",
        max_epochs=max_epochs,
        training=component.training | {"seed": seed},
        search=dict(component.search),
        options={key: nlp.get_pipe_config(component.name)[key] for key in _OPTIONS},
        heads=parser.heads,
        description=f"{description}, after {nlp.meta.get('name', base)}",
        base=TrainedModel(component.model.tagger, parser),
    )


def save_pipeline(nlp: Language, path: Path) -> None:
    """Write a pipeline to a folder; an existing one is replaced once the new one is complete."""
    path = path.resolve()  # a link cannot be replaced by a folder
    unfinished, replaced = (path.with_name(f".{path.name}.incparse-{what}") for what in ("new", "old"))
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        with named(path):
            nlp.to_disk(unfinished)
            sentencizer = unfinished / "sentencizer.json"
            if sentencizer.is_file():  # spaCy writes characters in the order of a set, which changes by process
                settings = srsly.read_json(sentencizer)
                srsly.write_json(sentencizer, settings | {"punct_chars": sorted(settings["punct_chars"])})
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    if path.exists():
        shutil.rmtree(replaced, ignore_errors=True)
        path.rename(replaced)
    unfinished.rename(path)
    shutil.rmtree(replaced, ignore_errors=True)


def _check(settings: dict[str, Any], others: Sequence[str]) -> None:
    """Raise ConfigError for wrong values now, not after training the tagger; `others` as for `check_training`."""
    lang, training, search = settings["lang"], settings["training"], settings["search"]
    if not isinstance(lang, str):
        raise ConfigError(f"lang is {lang!r}: it must be a language code, such as 'en'")
    check_number("max_epochs", settings["max_epochs"], 1, MOST)
    features = training["features"]
    if isinstance(features, str) and features in recipes() and features not in feature_names():
        raise ConfigError(
            f"{features!r} is not a feature set, but a recipe with more settings: use --config {features}"
        )
    check_search(search)
    check_training(training | search, others)
    # Let spaCy check the types of the component's settings.
    import spacy
    from thinc.api import ConfigValidationError

    try:
        spacy.blank("xx").add_pipe("incparse", config=settings["options"])
    except ConfigValidationError as error:
        raise ConfigError("; ".join(f"{found['loc'][-1]}: {found['msg']}" for found in error.errors)) from None
    if settings["options"].get("measures") and not kind_of(training).has_measures:
        raise ConfigError("measures need a generative model: train one with features = 'generative', or leave them out")


def _read_settings(config: str) -> dict[str, Any]:
    defaults = {"training": {}, "search": {}, "options": {}, "lang": "en", "max_epochs": MAX_EPOCHS}
    if config in recipes():
        kind, own = recipes()[config]
        features = {"features": config} if config in NAMED_SETS else {}
        return defaults | dict(own) | {"training": {"kind": kind.name} | features | own.get("training", {})}
    path = Path(config)
    if not path.is_file():
        raise ConfigError(f"--config {config!r} is neither a file nor one of {', '.join(config_names())}")
    text = read_text(path)
    try:
        return defaults | ((_from_json if _is_json(path) else _from_cfg)(text))
    except (ValueError, KeyError, TypeError, configparser.Error) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error  # spaCy's messages have many lines


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _from_json(text: str) -> dict[str, Any]:
    """Read an object with settings as in [components.incparse.training], and optionally "lang" and "max_epochs"."""
    try:
        content = json.loads(text, object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        raise ConfigError(f"line {error.lineno}, column {error.colno}: this is not valid JSON: {error.msg}") from None
    if not isinstance(content, dict):
        raise ConfigError('expected an object with settings, such as {"features": "rich", "n_folds": 5}')
    outer = {key: content.pop(key) for key in _OUTER if key in content}
    return outer | {"training": content}


def _without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict. Raises ConfigError for a setting that is given twice."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ConfigError(f"{next(name for name in names if names.count(name) > 1)!r} is given twice: keep one of them")
    return content


def _from_cfg(text: str) -> dict[str, Any]:
    """Read the parser's settings, the language and the number of passes from a spaCy config."""
    from spacy.util import load_config_from_str

    config = load_config_from_str(text, interpolate=True)
    components = [settings for settings in config.get("components", {}).values() if isinstance(settings, dict)]
    found = [settings for settings in components if settings.get("factory") == "incparse"]
    if not found:
        if any(settings.get("factory") == "incparse_neural" for settings in components):
            raise ConfigError(
                "this is the config of a neural parser: pass --config neural, with --encoder FOLDER for a transformer; "
                "or train the config with `spacy train`"
            )
        raise ConfigError('no component with factory = "incparse"')
    for name in found[0]:
        if name not in (*_OPTIONS, *_OWN):
            known = ", ".join(sorted((*_OPTIONS, *_OWN)))
            raise ConfigError(f"there is no setting {name!r} of the component incparse: the settings are {known}")
    training, search = (found[0].get(name, {}) for name in ("training", "search"))
    for name, settings in (("training", training), ("search", search)):
        if not isinstance(settings, dict):
            raise ConfigError(f"{name} is {settings!r}: it must be a section with settings")
    return {
        "lang": config.get("nlp", {}).get("lang"),
        "max_epochs": config.get("training", {}).get("max_epochs") or MAX_EPOCHS,
        "training": training,
        "search": search,
        "options": {key: found[0][key] for key in _OPTIONS if key in found[0]},
    }


def blank_pipeline(lang: str) -> Language:
    """Return a pipeline without components. Raises ConfigError if spaCy does not have the language."""
    import spacy

    try:
        return spacy.blank(lang)
    except (ImportError, AttributeError) as error:  # AttributeError: spacy.lang has modules that are not languages
        raise ConfigError(
            f"spaCy has no tokenizer for the language {lang!r}, or lacks a package for it: {error}"
        ) from None


def _model(nlp: Language, name: str) -> Any:
    component: Any = nlp.get_pipe(name)
    return component.model
