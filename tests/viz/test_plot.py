import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.viz.plot import PLOT_STYLES, plot
from tests.viz.markup import texts

WORDS = ["The", "horse", "fell", "."]


def heights(picture):
    """Of the bars, from left to right."""
    bars = re.findall(r'<rect x="(\d+)" y="\d+" width="\d+" height="(\d+)"><title>', picture)
    return [int(height) for _, height in sorted((int(x), height) for x, height in bars)]


def test_bars_are_as_high_as_the_figures():
    picture = plot(WORDS, [5.0, 10.0, 0.0, 2.5], title="Surprisal", unit="bits")
    assert heights(picture) == [75, 150, 1, 38]
    assert {*WORDS, "0", "2", "4", "6", "8", "10", "bits", "Surprisal"} <= set(texts(picture))
    assert "<title>horse: 10 bits</title>" in picture
    assert heights(plot(["ילד", "אכל"], [1.0, 2.0])) == [150, 75]  # from right to left


def test_missing_figures_are_shown_as_missing():
    picture = plot(WORDS, [5.0, None, float("nan"), 2.5])
    assert len(heights(picture)) == 2
    assert picture.count("missing</title>") == 2
    line = plot(WORDS, [5.0, None, 4.0, 2.5], style="line")
    assert line.count("<circle") == 3
    path = re.search(r'<path d="(M[^"]*)" fill="none" stroke="#', line)[1]
    assert (path.count("M"), path.count("L")) == (2, 1)


def test_several_series_have_names_and_colours():
    picture = plot(WORDS, {"total": [5, 10, 3, 2], "syntactic": [1, 2, -3, 2]})
    assert {"total", "syntactic", "-5"} <= set(texts(picture))
    assert len(heights(picture)) == 8
    assert len(set(re.findall(r'class="series" fill="(#\w+)"', picture))) == 2


@pytest.mark.parametrize("style", PLOT_STYLES)
def test_long_sentences_take_several_lines(style):
    picture = plot(WORDS * 15, [1.0] * 60, style=style, width=600)
    assert int(ElementTree.fromstring(picture).get("width")) <= 620
    assert picture.count('class="axis"') > 3


def test_lines_need_not_begin_at_zero():
    picture = plot(["1", "2", "3"], [81.0, 84.0, None], style="line", unit="F", from_zero=False)
    assert {"81", "82", "83", "84"} <= set(texts(picture))
    assert "0" not in texts(picture)
    assert re.findall(r'cy="(\d+)"', picture) == ["150", "0"]
    with pytest.raises(ConfigError, match="bars begin at 0"):
        plot(["1"], [81.0], from_zero=False)


@example([5e-324, None], "bars", True)
@example([1e12, 1e12 + 1e-3], "line", False)
@given(
    st.lists(st.one_of(st.none(), st.floats(-1e12, 1e12)), min_size=1, max_size=8),
    st.sampled_from(PLOT_STYLES),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_figures_stay_on_the_scale(values, style, from_zero):
    picture = plot(["w"] * len(values), values, style=style, from_zero=from_zero or style == "bars")
    ElementTree.fromstring(picture)
    assert all(0 < height <= 150 for height in heights(picture))
    assert all(0 <= int(y) <= 150 for y in re.findall(r'cy="(-?\d+)"', picture))


@pytest.mark.parametrize(
    ("words", "values", "style", "message"),
    [
        (WORDS, [1.0], "bars", "the series has 1 values for 4 words"),
        (WORDS, {"total": [1.0, 2.0]}, "bars", "the series 'total' has 2 values for 4 words"),
        (WORDS, [1.0, float("inf"), 2.0, 3.0], "line", "the series has the value inf at 'horse'"),
        (WORDS, [1.0] * 4, "pie", "the style of plots is 'pie': it must be one of bars, line"),
        ([], [], "bars", "no words"),
    ],
)
def test_mistakes(words, values, style, message):
    with pytest.raises((IncparseError, ConfigError), match=message):
        plot(words, values, style=style)
