from tests.chart.conftest import examples, features, sample_forest, sample_grammar, sample_trees  # noqa: F401
