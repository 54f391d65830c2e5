"""The settings of `train`, from a name or a file, and the pipeline that it creates."""

from __future__ import annotations

import configparser
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import srsly
import typer

from spacy_incparse.cli.options import open_pipeline
from spacy_incparse.cli.train import BEST, STATE, PassTable, config_names
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.files import named
from spacy_incparse.linear.templates import NAMED_SETS
from spacy_incparse.parsing.catalogue import check_search, find_kind, kind_of, recipes
from spacy_incparse.parsing.parser import Parser, ParserKind
from spacy_incparse.settings import MOST, MOST_SEED, Settings, check_number
from spacy_incparse.tokens import detokenize
from spacy_incparse.training.passes import NO_EXTRA, ExtraTrees
from spacy_incparse.training.settings import TRAINING_DEFAULTS, check_training, feature_names, head_rules, parser_config
from spacy_incparse.treebanks.reader import read_text
from spacy_incparse.trees.heads import HeadRules

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_incparse.tagging.tagger import Tagger
    from spacy_incparse.training.loop import PassReport
    from spacy_incparse.training.preparation import TrainedModel
    from spacy_incparse.trees.tree import Tree

_OUTER = ("lang", "max_epochs")  # in a .json file they are next to the settings of the parser
# The component's settings that a trained pipeline takes over, and those that training sets itself.
_OPTIONS = ("set_tags", "spans_key", "required_key", "forbidden_key", "nbest", "measures", "noun_chunks", "ptb_words")
_OWN = ("factory", "model", "tags", "scorer", "training", "search")
_FINE_TUNED = ("sentencizer", "incparse_senter", "incparse_tagger", "incparse")  # of a pipeline that is fine-tuned


@dataclass(frozen=True)
class Recipe:
    """All settings of a training run, checked.

    training, search: as in the component's config. options: its other settings, such as set_tags and spans_key.
    """

    REFUSED: ClassVar[Mapping[str, str]] = {  # options of the command that are not for these parsers, and why
        "encoder": "it is for --config neural",
        "init_tok2vec": "it is for --config neural",
        "gpu": "it is for neural parsers",
        "mixed_precision": "it is for --config neural",
    }
    FOR_GRAMMAR: ClassVar[bool] = True  # whether trees to learn from have to be good for a grammar

    lang: str
    max_epochs: int
    training: dict[str, Any]
    search: dict[str, Any]
    options: dict[str, Any]
    heads: HeadRules
    description: str
    base: TrainedModel | None = None
    n_process: int = 1
    base_splitter: Any = None  # the network that finds sentences in the base

    @classmethod
    def of_options(cls, given: Mapping[str, Any], description: str) -> Recipe:
        """Read the settings that the options of the command name. Raises IncparseError for wrong ones."""
        overrides = {name: given[name] for name in ("lang", "heads", "clusters", "max_epochs", "seed")}
        recipe = read_recipe(given["config"], base=given["from_model"], description=description, **overrides)
        kind, n_process, weight = recipe.kind, given["n_process"], given["extra_weight"]
        if n_process > 1 and kind.needs(recipe.parser_config).tag_request is None:
            raise IncparseError(f"--n-process {n_process}: a {kind.name} parser is trained in one process")
        if weight != 1 and kind.trains_in_one_pass:
            raise IncparseError(f"--extra-weight {weight:g}: a {kind.name} parser is trained in one pass, on all trees")
        return replace(recipe, n_process=n_process)

    @property
    def kind(self) -> ParserKind:
        """The kind of parser that is trained."""
        return find_kind(self.base.parser.kind) if self.base else kind_of(self.training)

    @property
    def parser_config(self) -> Settings:
        """The settings of the parser itself."""
        config: Settings | None = getattr(self.base.parser, "config", None) if self.base else None
        return config or parser_config(self.training | self.search)

    def is_begun(self, folder: Path) -> bool:
        """Return whether a folder has the state of such a training, which can be resumed."""
        from spacy_incparse.training.loop import is_begun

        return is_begun(folder) and not self.kind.trains_in_one_pass

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
            "n_process": self.n_process,
        }
        train_parser(trees, dev, **(settings | run))

    def train_pipeline(
        self, trees: Sequence[Tree], dev: Sequence[Tree], out_dir: Path, *, resume: bool = False,
        extra: ExtraTrees = NO_EXTRA,
    ) -> None:  # fmt: skip
        """Train on normalized trees; print a line for each pass and keep the best in `out_dir`.

        Nothing is printed before training starts, so that errors in the arguments are printed alone. Raises
        IncparseError if a training with another language would go on, or all passes are finished and the best one's
        pipeline is gone.
        """
        from spacy_incparse.training.loop import forget

        one_pass, best, state = self.kind.trains_in_one_pass, out_dir / BEST, out_dir / STATE
        if resume and one_pass:
            raise IncparseError(
                f"--resume: a {self.kind.name} parser is trained in one pass: there is nothing to resume"
            )
        if resume:
            self._check_language(best)
        else:
            state.mkdir(parents=True, exist_ok=True)  # fails now, not after hours, if it cannot be written
        if notice := self.kind.notice(self.parser_config, trees):
            typer.echo(notice, err=True)
        table, splitter = PassTable(trees, extra, dev), self.splitter(trees)

        def on_pass(report: PassReport, tagger: Tagger | None, parser: Parser) -> None:
            if report.is_best:
                performance = (report.scores or {}) | {"passes": report.number}
                save_pipeline(self.pipeline(tagger, parser, performance, splitter), best)
            table.add(report)

        with table.interruptible(resume=resume) as on_kept:
            self.train(
                trees, dev, extra=extra, state_dir=None if one_pass else state, resume=resume, has_best=best.exists(),
                on_pass=on_pass, on_kept=on_kept, progress=table.show_progress,
            )  # fmt: skip
        if one_pass:
            forget(state)  # of an older training: --resume would replace this pipeline by the older one
        if not best.exists():
            raise IncparseError(
                f"all {self.max_epochs} passes are finished, but their pipeline is no longer in {best}:"
                " continue with a higher --max-epochs, or start again without --resume"
            )

    def _check_language(self, pipeline: Path) -> None:
        """Raise IncparseError if a training would go on with another tokenizer than that of its pipeline, if any."""
        try:
            known = srsly.read_json(pipeline / "meta.json")["lang"]
        except (OSError, ValueError, TypeError, KeyError):  # no pipeline, or a damaged one, which will be replaced
            return
        if known != self.lang:
            raise IncparseError(
                f"--resume: the training was begun with the language {known!r}, not {self.lang!r}: pass --lang {known},"
                f" or start again with --force"
            )

    def splitter(self, trees: Iterable[Tree]) -> Any:
        """Return a network that finds sentences: that of the base, or one that has learnt from those of trees."""
        if self.base_splitter is not None:
            return self.base_splitter
        return add_splitter(blank_pipeline(self.lang), trees).model

    def pipeline(self, tagger: Tagger | None, parser: Parser, scores: dict[str, Any], splitter: Any) -> Language:
        """Return a pipeline of splitter, tagger and parser; the parser uses the tagger's tags.

        A parser that chooses among several tags contains the tagger, and writes the tags of its trees. A parser that
        finds its own tags also writes them.
        """
        nlp = blank_pipeline(self.lang)
        senter: Any = nlp.add_pipe("incparse_senter", name="senter")
        senter.model = splitter
        config, request = {"tags": "own", "set_tags": True}, parser.tag_request
        if tagger is not None and request is not None and request.n_tags == 1:
            # The parser has the tagger too: it works without the component, and tags the words that this leaves
            # untagged.
            tagging: Any = nlp.add_pipe("incparse_tagger")
            tagging.model.tagger, config = tagger, {"tags": "doc"}
        settings = {"training": self.training, "search": self.search}
        parsing: Any = nlp.add_pipe("incparse", config=config | settings | self.options)
        parsing.model.set_weights(tagger, parser)  # no copy: these are the largest things in memory
        nlp.meta.update(name="incparse", description=f"Constituency parser, {self.description}", performance=scores)
        return nlp


def read_recipe(
    config: str, *, lang: str | None = None, heads: Path | None = None, clusters: str | None = None,
    max_epochs: int | None = None, seed: int | None = None, description: str = "trained with spacy-incparse",
    base: str | None = None,
) -> Recipe:  # fmt: skip
    """Read the settings that `config` names: a recipe, a spaCy config (.cfg) or a .json file with settings.

    The other arguments override these settings. base: a pipeline to fine-tune, whose parser settings do not change.
    Raises ConfigError for unknown settings and wrong values.
    """
    if seed is not None:
        check_number("--seed", seed, 0, MOST_SEED)
    given = _read_settings(config)
    given |= {"lang": lang or given["lang"], "max_epochs": max_epochs or given["max_epochs"]}
    overrides = {"heads": None if heads is None else str(heads), "clusters": clusters, "seed": seed}
    training = TRAINING_DEFAULTS | given["training"] | {k: v for k, v in overrides.items() if v is not None}
    given["training"] = training
    try:
        kind = kind_of(training)
        if clusters is not None and "clusters" not in kind.config_type.names():
            raise ConfigError(f"--clusters {clusters}: a {kind.name} parser does not read word clusters")
        _check(given, others=_OUTER if _is_json(config) else ())
        training["kind"] = kind.name
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}") from None
    blank_pipeline(given["lang"])
    if base is not None:
        return _fine_tuning(base, given["max_epochs"], training["seed"], description)
    return Recipe(**given, heads=head_rules(training["heads"], given["lang"]), description=description)


def _fine_tuning(base: str, max_epochs: int, seed: int, description: str) -> Recipe:
    """Return the settings of a trained pipeline. Raises IncparseError if it cannot be fine-tuned."""
    from spacy_incparse.pipeline.parser import IncParser
    from spacy_incparse.pipeline.splitter import SentenceSplitter
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
        base_splitter=next((pipe.model for _, pipe in nlp.pipeline if isinstance(pipe, SentenceSplitter)), None),
    )


def add_splitter(nlp: Language, trees: Iterable[Tree]) -> Any:
    """Put a splitter in front of a pipeline that has learnt from the sentences of trees, and return it."""
    senter: Any = nlp.add_pipe("incparse_senter", name="senter", first=True)
    senter.learn(nlp.tokenizer, (detokenize(tree.words, tree.tags)[0] for tree in trees))
    return senter


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
    import spacy

    spacy.blank("xx").add_pipe("incparse", config=settings["options"])  # raises ConfigError for wrong values
    if settings["options"].get("measures") and not kind_of(training).has_measures:
        raise ConfigError("measures need a generative model: train one with kind = 'generative', or leave them out")


def _read_settings(config: str) -> dict[str, Any]:
    found: dict[str, Any] = {"training": {}, "search": {}, "options": {}, "lang": "en", "max_epochs": 10}
    if config in recipes():
        kind, own = recipes()[config]
        features = {"features": config} if config in NAMED_SETS else {}
        return found | dict(own) | {"training": {"kind": kind.name} | features | own.get("training", {})}
    path = Path(config)
    if not path.is_file():
        raise ConfigError(f"--config {config!r} is neither a file nor one of {', '.join(config_names())}")
    text = read_text(path)
    try:
        return found | (_from_json(text) if _is_json(config) else _from_cfg(text))
    except (ValueError, KeyError, TypeError, configparser.Error) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error  # spaCy's messages have many lines


def _is_json(config: str) -> bool:
    return Path(config).suffix.lower() == ".json"


def _from_json(text: str) -> dict[str, Any]:
    """Read an object with settings as in [components.incparse.training], and optionally "lang" and "max_epochs"."""

    def without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"{name!r} is given twice: keep one of them")
        return dict(pairs)

    try:
        content = json.loads(text, object_pairs_hook=without_doubles)
    except json.JSONDecodeError as error:
        raise ConfigError(f"line {error.lineno}, column {error.colno}: this is not valid JSON: {error.msg}") from None
    if not isinstance(content, dict):
        raise ConfigError('expected an object with settings, such as {"features": "rich", "n_folds": 5}')
    return {key: content.pop(key) for key in _OUTER if key in content} | {"training": content}


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
    own = found[0]
    for name in own:
        if name not in (*_OPTIONS, *_OWN):
            known = ", ".join(sorted((*_OPTIONS, *_OWN)))
            raise ConfigError(f"there is no setting {name!r} of the component incparse: the settings are {known}")
    sections = {name: own.get(name, {}) for name in ("training", "search")}
    for name, settings in sections.items():
        if not isinstance(settings, dict):
            raise ConfigError(f"{name} is {settings!r}: it must be a section with settings")
    options = {"options": {key: own[key] for key in _OPTIONS if key in own}, "lang": config.get("nlp", {}).get("lang")}
    passes = config.get("training", {}).get("max_epochs")
    return sections | options | ({"max_epochs": passes} if passes else {})


def blank_pipeline(lang: str) -> Language:
    """Return a pipeline without components. Raises ConfigError if spaCy does not have the language."""
    import spacy

    try:
        return spacy.blank(lang)
    except (ImportError, AttributeError) as error:  # AttributeError: spacy.lang has modules that are not languages
        raise ConfigError(
            f"spaCy has no tokenizer for the language {lang!r}, or lacks a package for it: {error}"
        ) from None
