"""F by pass and by training time: stochastic gradient, L-BFGS, MIRA, and the factored dual (sentences of 15 words)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np
from chart_lab import Lab, Scorer
from chart_sides import (
    FINKEL_15,
    FINKEL_FEATURES,
    HEAD,
    L2,
    PASSES,
    SGD,
    TABLE_BITS,
    X_BAR,
    Report,
    crf,
    factored_dual,
    mira,
)
from paper_report import table_text
from parts import Figures
from results import percent

from spacy_incparse.chart.crf import EdgeFeatures, LinearChartModel
from spacy_incparse.chart.templates import resolve
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.papers.finkel_2008 import SETS
from spacy_incparse.papers.finkel_2008.system import CrfObjective
from spacy_incparse.rerank.learner import minimize
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.plot import plot

MAX_ITERATIONS = 40  # of L-BFGS
LBFGS_BITS = min(TABLE_BITS, 18)  # its memory and time grow with the number of weights
TIMES = [digit * 10.0**power for power in range(-2, 4) for digit in (1, 1.5, 2, 3, 5, 7)]  # seconds


def lbfgs(lab: Lab, report: Report) -> Scorer:
    """Train a conditional random field by L-BFGS; each evaluation of the objective is a pass."""
    features = EdgeFeatures(lab.grammar, resolve(FINKEL_FEATURES, named=SETS), lab.lexicon, table_bits=LBFGS_BITS)
    start = time.process_time()
    bound = [(example, features.bind(example.sentence, example.forest)) for example in lab.examples]
    objective = CrfObjective(bound, L2)
    seconds, best = time.process_time() - start, np.inf

    def followed(weights: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal seconds, best
        begun = time.process_time()
        value, gradient = objective(weights)
        seconds += time.process_time() - begun
        best = min(best, value)
        report(LinearChartModel.rounded(features, weights).scores, seconds)
        return value, gradient

    found = minimize(followed, np.zeros(features.n_weights), max_iterations=MAX_ITERATIONS)
    return LinearChartModel.rounded(features, found.x).scores


LEARNERS = {
    "sgd": (FINKEL_15, crf(FINKEL_FEATURES, SGD[15], PASSES[15])),
    "l-bfgs": (FINKEL_15, lbfgs),
    "mira": (X_BAR, mira("span", 20)),
    "factored-dual": (HEAD, factored_dual(with_words=True)),
    "frank-wolfe": (HEAD, factored_dual(with_words=True, pairwise=False)),
}


def follow(name: str, train: Sequence[Tree], dev: Sequence[Tree], heads: HeadRules) -> Figures:
    """Return F and the CPU seconds of training after each pass of a learner."""
    grammar, learn = LEARNERS[name]
    lab = Lab(train, grammar, heads)
    curve: Figures = {"f": [], "seconds": []}

    def report(scorer: Scorer, seconds: float) -> None:
        trees, _ = lab.parse(dev, scorer)
        curve["f"].append(score_trees(dev, trees).all.f)
        curve["seconds"].append(seconds)
        print(f"    {name}: pass {len(curve['f'])}, {seconds:.1f} s, F {percent(curve['f'][-1])}", flush=True)

    learn(lab, report)
    return curve


def convergence_text(curves: Mapping[str, Figures]) -> str:
    """Return F and CPU seconds by pass."""
    rows = [["pass", *(cell for name in curves for cell in (name, "CPU s"))]]
    for k in range(max(len(curve["f"]) for curve in curves.values())):
        row = [str(k + 1)]
        for curve in curves.values():
            is_over = k >= len(curve["f"])
            row += ["", ""] if is_over else [percent(curve["f"][k]), f"{curve['seconds'][k]:.1f}"]
        rows.append(row)
    return table_text("F by pass (gold tags, Viterbi), and CPU seconds of training", rows, n_names=1)


def by_pass_svg(curves: Mapping[str, Figures]) -> str:
    """Return F by pass as a picture."""
    n = max(len(curve["f"]) for curve in curves.values())
    series = {name: [*_percents(curve["f"]), *[None] * (n - len(curve["f"]))] for name, curve in curves.items()}
    return _picture([str(k + 1) for k in range(n)], series, "F by pass")


def by_time_svg(curves: Mapping[str, Figures]) -> str:
    """Return the F that training has reached after some CPU seconds as a picture."""
    first = min(curve["seconds"][0] for curve in curves.values())
    last = max(curve["seconds"][-1] for curve in curves.values())
    times = [second for second in TIMES if first <= second <= last] or [last]
    series = {}
    for name, curve in curves.items():
        found = [[f for f, done in zip(curve["f"], curve["seconds"], strict=True) if done <= limit] for limit in times]
        series[name] = [100 * values[-1] if values else None for values in found]
    return _picture([f"{second:g} s" for second in times], series, "F by CPU seconds of training")


def _picture(names: Sequence[str], series: Mapping[str, Sequence[float | None]], title: str) -> str:
    return plot(names, series, style="line", title=title, unit="F", from_zero=False, width=None)


def _percents(values: Sequence[float]) -> list[float]:
    return [100 * value for value in values]
