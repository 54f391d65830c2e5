"""Texts with mistakes in them."""

import random

PIECES = ("(", ")", "\n(", "( (", "\r\n", "(#0\t5%<")


def damaged(text: str, chance: random.Random, characters: str | None = None) -> str:
    """Return a text with one to three changes: characters or lines lost, doubled, swapped or replaced, or its end cut.

    characters: none but these change.
    """
    for _ in range(chance.randint(1, 3)):
        has_lines = characters is None and chance.random() < 0.3
        parts = text.split("\n") if has_lines else list(text)
        places = [k for k, part in enumerate(parts) if characters is None or part in characters]
        if not places:
            break
        k, other = chance.choice(places), chance.choice(places)
        change = chance.choice(["lose", "lose", "double", "double", "swap", "swap", "replace", "replace", "cut"])
        if change == "lose":
            del parts[k]
        elif change == "double":
            parts.insert(k, parts[other])
        elif change == "swap":
            parts[k], parts[other] = parts[other], parts[k]
        elif change == "replace":
            parts[k] = chance.choice(PIECES)
        else:
            del parts[k:]
        text = ("\n" if has_lines else "").join(parts)
    return text
