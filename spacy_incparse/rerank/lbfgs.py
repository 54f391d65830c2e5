"""L-BFGS: minimize a differentiable function of many variables (Nocedal & Wright 2006, algorithms 7.4 and 7.5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""From x, (n,) float64, to the function's value and gradient (n,)."""

_N_STEPS = 8  # the last steps that stand for the curvature
_SUFFICIENT = 1e-4  # share of the decrease which the gradient promises that a step must bring (Armijo)
_FLATTER = 0.9  # share of the slope that may be left behind a step (Wolfe)
_MOST_TRIALS = 30  # of step lengths


class Minimum(NamedTuple):
    """Where a minimization ended: x, the function's value, and the number of iterations."""

    x: np.ndarray
    value: float
    n_iterations: int


def minimize(
    objective: Objective,
    start: np.ndarray,
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-5,
    progress: Callable[[int, int], None] | None = None,
) -> Minimum:
    """Return a local minimum, or the best point after `max_iterations`.

    It has converged where an iteration lowers the value by less than tolerance, as a share of the value, or where no
    step along the search direction lowers it. Sums are numpy's own, not those of BLAS, which may differ with the number
    of threads: the same start gives the same bits.
    """
    x = np.array(start, float)
    value, gradient = objective(x)
    steps: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=_N_STEPS)
    for done in range(max_iterations):
        found = _line_search(objective, x, value, gradient, _direction(gradient, steps), is_first=not steps)
        if found is None:
            return Minimum(x, value, done)
        new_x, new_value, new_gradient = found
        _remember(steps, new_x - x, new_gradient - gradient)
        gain, value = value - new_value, new_value
        x, gradient = new_x, new_gradient
        if progress:
            progress(done + 1, max_iterations)
        if gain <= tolerance * max(abs(value), 1e-12):
            return Minimum(x, value, done + 1)
    return Minimum(x, value, max_iterations)


def _direction(gradient: np.ndarray, steps: deque[tuple[np.ndarray, np.ndarray, float]]) -> np.ndarray:
    """Return -H gradient, H the inverse Hessian that the last steps suggest (algorithm 7.4, the two loops)."""
    q = -gradient
    alphas = []
    for step, change, rho in reversed(steps):
        alpha = rho * _dot(step, q)
        q = q - alpha * change
        alphas.append(alpha)
    if steps:
        _, change, rho = steps[-1]
        q = q / (rho * _dot(change, change))
    for (step, change, rho), alpha in zip(steps, reversed(alphas), strict=True):
        q = q + (alpha - rho * _dot(change, q)) * step
    return q


def _line_search(
    objective: Objective, x: np.ndarray, value: float, gradient: np.ndarray, direction: np.ndarray, *, is_first: bool
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Return the first point tried that meets the weak Wolfe conditions, by bisection; None if nothing is lower."""
    slope = _dot(gradient, direction)
    if slope >= 0:
        return None
    length = min(1.0, 1.0 / np.sqrt(_dot(gradient, gradient))) if is_first else 1.0
    low, high = 0.0, np.inf
    best = None
    for _ in range(_MOST_TRIALS):
        new_x = x + length * direction
        new_value, new_gradient = objective(new_x)
        if not new_value <= value + _SUFFICIENT * length * slope:  # "not", so that NaN is too far as well
            high = length
        else:
            best = (new_x, new_value, new_gradient)
            if _dot(new_gradient, direction) >= _FLATTER * slope:
                break
            low = length
        length = (low + high) / 2 if high < np.inf else 2 * low
    return best


def _remember(steps: deque[tuple[np.ndarray, np.ndarray, float]], step: np.ndarray, change: np.ndarray) -> None:
    """Keep a step and the change of the gradient if they show positive curvature."""
    curvature = _dot(step, change)
    if curvature > 1e-10 * _dot(change, change):
        steps.append((step, change, 1 / curvature))


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return float((a * b).sum())
