"""Write into documents what their code prints now, and all else that is made of the code.

python tests/readme.py               # README.md
python tests/readme.py FILE.md ...   # other documents
python tests/readme.py --all         # all, with those read off the code, and the pictures
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
README = CHECKOUT / "README.md"
DOCS = CHECKOUT / "docs"
WRITERS = (DOCS / "generate.py", DOCS / "images" / "draw.py")  # programs that write documents and pictures
_SECONDS = re.compile(r"\d+\.\d(?=(?:  \*)?$)", re.MULTILINE)  # what `train` prints at the end of its lines


def rewrite(path: Path) -> None:
    """Write into a document what its code prints now."""
    from tests.code_blocks import SYBIL, enter_folder, leave_folder

    document = SYBIL.parse(path.resolve())
    text, n_added = document.text, 0
    enter_folder(document.namespace)
    for example in document.examples():
        code, printed = example.parsed, example.parsed.printed(example)
        if not code.fits(printed):
            printed = _SECONDS.sub("...", printed) if " train " in code.source else printed
            text = text[: code.start + n_added] + printed + text[code.end + n_added :]
            n_added += len(printed) - (code.end - code.start)
            print(f"{path.name}: updated the output of: {code.source.strip().splitlines()[0]}")
    leave_folder(document.namespace)
    path.write_text(text, encoding="utf8")


def main(names: list[str]) -> None:
    """Write the documents of these names."""
    if names == ["--all"]:
        for writer in WRITERS:
            subprocess.run([sys.executable, str(writer)], check=True)
        from tests.embedded_models import record

        record()
        names = [str(path) for path in (README, CHECKOUT / "examples" / "README.md", *sorted(DOCS.glob("*.md")))]
    for name in names or [str(README)]:
        rewrite(Path(name).resolve())


if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT))
    main(sys.argv[1:])
