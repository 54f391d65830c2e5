import numpy as np

def learn(
    features: np.ndarray,
    firsts: np.ndarray,
    tags: np.ndarray,
    groups: np.ndarray,
    targets: np.ndarray,
    possible: np.ndarray,
    weights: np.ndarray,
    squares: np.ndarray,
    order: np.ndarray,
    n_features: int,
    n_classes: int,
    rate: float,
) -> None: ...
