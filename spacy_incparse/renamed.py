"""The module and attribute names of version 0.1: they keep working, with a DeprecationWarning.

A finder at the end of `sys.meta_path` finds moved modules by their old names. Python only calls it if no such module
exists.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGE = "spacy_incparse"
PACKAGES = ("grammar", "search")  # no longer exist

# Old name -> new name of modules, relative to the package.
MODULES = {
    "evaluation.brackets": "evaluation.evalb_brackets",
    "evaluation.formatting": "evaluation.score_format",
    "generative.beam": "generative.generative_beam",
    "generative.config": "generative.generative_config",
    "generative.contexts": "generative.context_counts",
    "generative.model": "generative.generative_model",
    "generative.parser": "generative.generative_parser",
    "generative.risk": "parsers.expected_f",
    "generative.scorer": "generative.generative_scorer",
    "generative.session": "generative.prefix_session",
    "generative.templates": "generative.context_templates",
    "grammar.chains": "derivations.chains",
    "grammar.derivation": "derivations.derivation",
    "grammar.labels": "derivations.grammar_labels",
    "grammar.refusals": "derivations.violations",
    "grammar.tables": "derivations.grammar_tables",
    "hybrid.jackknife": "hybrid.generative_folds",
    "hybrid.model": "hybrid.hybrid_parser",
    "hybrid.scorer": "hybrid.hybrid_scorer",
    "patterns.brackets": "treebanks.bracket_scanner",
    "patterns.forest": "trees.forest",
    "patterns.labels": "patterns.label_tests",
    "patterns.matcher": "patterns.forest_matcher",
    "patterns.normalizing": "treebanks.forest_normalizing",
    "patterns.parser": "patterns.pattern_parser",
    "patterns.reading": "treebanks.forest_reader",
    "pipeline.components": "documents.live_parsers",
    "pipeline.confidence_scores": "documents.confidence_scores",
    "pipeline.constraints": "documents.span_constraints",
    "pipeline.convert": "documents.conversion",
    "pipeline.decoder": "documents.configured_parser",
    "pipeline.doc_tree": "documents.doc_tree",
    "pipeline.drawables": "documents.drawables",
    "pipeline.extensions": "documents.extensions",
    "pipeline.fields": "documents.stored_fields",
    "pipeline.generative": "training.training_settings",
    "pipeline.gold": "documents.gold_trees",
    "pipeline.head_fields": "documents.stored_heads",
    "pipeline.matcher": "documents.constituent_matcher",
    "pipeline.measure_plots": "documents.measure_plots",
    "pipeline.model": "pipeline.component_model",
    "pipeline.modelfile": "pipeline.model_file",
    "pipeline.parses": "documents.doc_parses",
    "pipeline.phrase_spans": "documents.span_mirror",
    "pipeline.rendering": "documents.rendering",
    "pipeline.sentences": "documents.sentences",
    "pipeline.storage": "documents.tree_storage",
    "pipeline.tags": "documents.doc_tags",
    "pipeline.training": "pipeline.parser_training",
    "pipeline.tree_scores": "documents.doc_tree_scores",
    "pipeline.userdata": "documents.user_data",
    "pipeline.word_measures": "documents.word_measures",
    "search.analyses": "parsers.nbest",
    "search.base": "derivations.treebank_parser",
    "search.beam": "perceptron.beam",
    "search.config": "perceptron.perceptron_config",
    "search.constraints": "derivations.constrained_search",
    "search.gold": "derivations.oracle",
    "search.limits": "derivations.bracket_constraints",
    "search.moves": "derivations.moves",
    "search.output": "derivations.tree_writer",
    "search.parser": "perceptron.perceptron_parser",
    "search.replay": "perceptron.replay",
    "search.scorer": "perceptron.scorer",
    "search.sentence": "derivations.encoded_sentence",
    "search.session": "parsers.look_ahead_session",
    "search.tree_scores": "derivations.tree_scores",
    "tagging.config": "tagging.tagger_config",
    "tagging.decoder": "tagging.tag_decoder",
    "tagging.search": "tagging.tag_search",
    "tagging.storage": "tagging.tagger_storage",
    "tagging.templates": "tagging.tagger_templates",
    "tagging.trainer": "tagging.tagger_trainer",
    "tagging.words": "tagging.tagger_words",
    "training.cache": "perceptron.candidate_cache",
    "training.learner": "perceptron.learner",
    "training.loop": "training.training_loop",
    "training.perceptron": "perceptron.early_update",
    "training.state": "training.training_state",
    "trees.binarize": "transforms.binarize",
    "trees.brackets": "trees.bracket_strings",
    "trees.files": "treebanks.treebank_files",
    "trees.formats": "treebanks.foreign_formats",
    "trees.normalize": "treebanks.normalize",
    "trees.reader": "treebanks.penn_reader",
    "viz.brackets": "viz.bracket_text",
    "viz.measure": "viz.text_width",
    "viz.text": "viz.text_tree",
}

# Old name -> new name of attributes that were moved or renamed. In a module that was not moved itself,
# `__getattr__ = renamed.old_names("its name")` makes its entries work.
NAMES = {
    "generative.risk.least_risk": "parsers.expected_f.max_expected_f",
    "grammar.refusals.Refusal": "parsers.tree_scores.Violation",
    "grammar.refusals.refusals": "derivations.violations.violations",
    "pipeline.decoder.Decoder": "documents.configured_parser.ConfiguredParser",
    "pipeline.generative.check_search": "parsers.catalogue.check_search",
    "pipeline.generative.check_training": "training.training_settings.check_training",
    "pipeline.training.TRAINING_DEFAULTS": "training.training_settings.TRAINING_DEFAULTS",
    "pipeline.training.head_rules": "training.training_settings.head_rules",
    "pipeline.training.own_settings": "training.training_settings.own_settings",
    "pipeline.training.parser_config": "training.training_settings.parser_config",
    "search.analyses.Analyser": "parsers.nbest.NBestSearch",
    "search.base.Parse": "parsers.parse.Parse",
    "search.base.ROOT_LABEL": "trees.labels.ROOT",
    "search.base.TrainedParser": "derivations.treebank_parser.TreebankParser",
    "search.base.check_sentence": "parsers.parse.check_sentence",
    "search.base.flat_tree": "parsers.parse.flat_tree",
    "search.constraints.Constraint": "parsers.constraints.Constraint",
    "search.constraints.Constraints": "parsers.constraints.Constraints",
    "search.constraints.checked": "parsers.constraints.checked_constraints",
    "search.gold.Tags": "parsers.parse.Tags",
    "search.limits.Limits": "derivations.bracket_constraints.BracketConstraints",
    "search.parser.Model": "perceptron.perceptron_parser.PerceptronModel",
    "search.parser.Parser": "perceptron.perceptron_parser.PerceptronParser",
    "search.parser.TagSource": "parsers.protocol.TagSource",
    "search.parser.Tags": "parsers.parse.Tags",
    "search.session.LateSession": "parsers.look_ahead_session.LookAheadSession",
    "search.session.NO_WORDS": "parsers.pushed_words.NO_WORDS",
    "search.session.TaggerAhead": "parsers.protocol.TagSource",
    "search.session.check_n_analyses": "parsers.pushed_words.check_n_analyses",
    "search.session.check_word": "parsers.pushed_words.check_word",
    "search.tree_scores.ScoredMove": "parsers.tree_scores.ScoredMove",
    "search.tree_scores.TreeScore": "parsers.tree_scores.TreeScore",
    "training.learner.Learning": "perceptron.learner.WeightLearner",
    "pipeline.parses.Confidence": "documents.confidences.Confidence",
    "pipeline.parses.Phrase": "trees.arrays.Phrase",
    "pipeline.parses.forget_confidences": "documents.confidences.forget_confidences",
    "pipeline.parses.node_confidence": "documents.confidences.node_confidence",
    "pipeline.phrase_spans.Phrase": "documents.rebuilt_trees.MirroredPhrase",
    "pipeline.phrase_spans.ROOT_LABEL": "trees.labels.ROOT",
    "pipeline.phrase_spans.UNKNOWN_TAG": "trees.labels.UNKNOWN_TAG",
}


class OldModules:
    """A finder and loader that maps the modules of version 0.1 to their current modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a moved module; None for all others."""
        package, _, old = name.partition(".")
        if package != PACKAGE or not (old in MODULES or old in PACKAGES):
            return None
        return ModuleSpec(name, self, is_package=old in PACKAGES)  # type: ignore[arg-type]  # a loader by its methods

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None, for the default empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the old module with the new one, or with a module that looks up renamed attributes."""
        old = module.__name__.removeprefix(f"{PACKAGE}.")
        if old in PACKAGES:
            return
        if any(name.rpartition(".")[0] == old for name in NAMES):
            module.__getattr__ = old_names(old)  # type: ignore[method-assign]
            return
        _warn(old, MODULES[old], stacklevel=3)
        sys.modules[module.__name__] = import_module(f"{PACKAGE}.{MODULES[old]}")


def old_names(module: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module of version 0.1, given its name relative to the package."""

    def find(name: str) -> Any:
        old = f"{module}.{name}"
        new = NAMES.get(old) or (f"{MODULES[module]}.{name}" if module in MODULES else "")
        place, _, now = new.rpartition(".")
        if not new or name.startswith("__"):
            raise AttributeError(f"module '{PACKAGE}.{module}' has no attribute {name!r}")
        found = getattr(import_module(f"{PACKAGE}.{place}"), now)
        _warn(old, new, stacklevel=3)
        return found

    return find


def install() -> None:
    """Make the old modules importable."""
    if not any(isinstance(finder, OldModules) for finder in sys.meta_path):
        sys.meta_path.append(OldModules())


def _warn(old: str, new: str, *, stacklevel: int) -> None:
    warnings.warn(f"{PACKAGE}.{old} is now {PACKAGE}.{new}", DeprecationWarning, stacklevel=stacklevel)
