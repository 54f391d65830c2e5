from collections.abc import Sequence

Side = tuple[Sequence[int], Sequence[int]]

def edit_distance(first: Side, second: Side) -> int: ...
