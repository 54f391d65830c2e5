import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no reason to fail.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# The tests that `pytest -m quick` runs, at least one file of each room: less than 90 CPU seconds together.
_QUICK = {
    "chart": "charts recurrences grammar",
    "cli": "convert_command score_command stats_command",
    "corpora": "corpus_readers",
    "documents": "doc_tree gold storage constituent_matcher",
    "english": "english_trees",
    "evaluation": "evalb_scoring significance list_scores",
    "functions": "relation_rules",
    "generative": "count_storage given_trees",
    "incremental": "config move_grammar moves",
    "linear": "lexicon templates weights",
    "languages": "indonesian",
    "measuring": "tree_comparison",
    "neural": "span_scores",
    "papers": "pcfg candidate_cache",
    "parsing": "recombination",
    "patterns": "pattern_syntax pattern_meaning",
    "pipeline": "scorers",
    "packaging": "project_files",
    "rerank": "data list_files",
    "repair": "rule_files repairing",
    "server": "server_protocol",
    "tagging": "words tagger_storage",
    "training": "temperature training_lists",
    "transforms": "left_corner markovize",
    "treebanks": "normalize forest_reading treebank_formats",
    "trees": "builder codec conversions heads labels tree",
    "viz": "escaping sketch svg",
    "workbench": "workbench_files",
    ".": "layout tokens files integer_arrays",
}
QUICK = {
    Path(__file__).parent / folder / f"test_{name}.py" for folder, names in _QUICK.items() for name in names.split()
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no other files for the quick tests."""
    is_test = collection_path.is_file() and collection_path.name not in ("conftest.py", "__init__.py")
    return True if config.option.markexpr == "quick" and is_test and collection_path not in QUICK else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests."""
    for item in items:
        if item.path in QUICK:
            item.add_marker(pytest.mark.quick)


def _folder(variable: str, default: str) -> Path:
    path = Path(os.environ.get(variable, Path(__file__).parents[1] / default))
    if not path.is_dir():
        pytest.skip(f"needs the folder {path} (environment variable {variable})")
    return path


@pytest.fixture(scope="session")
def treebanks() -> Path:
    """The folder of real treebanks: wsj, gum and craft, each with train.mrg and dev.mrg."""
    return _folder("INCPARSE_TREEBANKS", "../shared/treebanks")


@pytest.fixture(scope="session")
def evalb_files() -> Path:
    """The folder with the real EVALB program's output: gold.mrg, parsed.mrg, evalb.txt, evalb-goldtags.txt."""
    return _folder("INCPARSE_EVALB", "../shared/evalb")


@pytest.fixture(scope="session")
def sample_train():
    """The trees of the sample treebank's training part."""
    return _sample("train")


@pytest.fixture(scope="session")
def sample_dev():
    """The trees of its dev part."""
    return _sample("dev")


def _sample(part: str):
    from spacy_incparse.treebanks.reader import read_treebank

    return read_treebank(Path(__file__).parents[1] / "assets" / f"sample-{part}.mrg")


@pytest.fixture(scope="session")
def trained():
    """A pipeline trained on the sample treebank. Read only: copy it with `from_bytes` before you change it."""
    from tests.small_pipeline import train, untrained  # spaCy is loaded only where a test wants it

    nlp = untrained()
    train(nlp, 3)
    return nlp
