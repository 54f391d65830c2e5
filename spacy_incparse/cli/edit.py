"""The command `edit`: a page on which a person corrects trees, and the parser learns."""

from __future__ import annotations

import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from typer import Argument, Option, echo

from spacy_incparse.cli.options import takes
from spacy_incparse.errors import IncparseError, optional_module
from spacy_incparse.files import check_writable
from spacy_incparse.treebanks.reader import read_text

if TYPE_CHECKING:
    from spacy_incparse.workbench.journal import Journal
    from spacy_incparse.workbench.sources import Source

NONE = "none"


def _names(text: str | None) -> list[str]:
    return [name for name in (text or "").replace(",", " ").split() if name]


@takes(
    path=Argument(metavar="FILE", help="Treebank, text, or CoNLL-U."),
    model=Option(
        "--model", "-m", metavar="NAME_OR_PATH|none",
        help="What proposes trees; none: nothing yet. Default: what was learned from FILE before, or en.",
    ),
    tokenized=Option("--tokenized", help="Each line of the text is a sentence, with spaces between its tokens."),
    second=Option("--second", metavar="FILE", help="Another annotator's trees of the same sentences, to compare."),
    tags=Option("--tags", metavar="TAGS", help="With --model none: the parts of speech, such as N,V,ADJ."),
    labels=Option("--labels", metavar="LABELS", help="With --model none: the phrases, such as S,NP,VP."),
    lang=Option("--lang", "-l", help="With --model none: the language of the text, for its words. Default: xx."),
    rules=Option("--rules", metavar="NAME|FILE", help="Rules of `repair` for hints. Default: english with en."),
    every=Option("--every", min=5, metavar="N", help="Accepted trees after which the parser learns. 20 by default."),
    no_learning=Option("--no-learning", help="The parser does not learn."),
    port=Option("--port", "-p", min=0, max=65535, help="Port on this machine; 0: any that is free."),
    no_browser=Option("--no-browser", help="Only print the address."),
)  # fmt: skip
def edit_command(
    path: Path, model: str | None = None, tokenized: bool = False, second: Path | None = None, tags: str | None = None,
    labels: str | None = None, lang: str = "xx", rules: str | None = None, every: int = 20, no_learning: bool = False,
    port: int = 8000, no_browser: bool = False,
) -> None:  # fmt: skip
    """Correct trees on a page in your browser, while the parser proposes, and learns from you.

    Trees in FILE are written again where they were; those of a text are written to FILE.mrg. Each action is on disk at
    once, in FILE.journal, from which you go on next time. The page is for this machine alone.

    \b
    Examples:
      spacy-incparse edit mine.mrg
      spacy-incparse edit news.txt --model none --lang id --tags N,V,ADJ,P,PUNCT --labels S,NP,VP,PP
    """
    uvicorn = optional_module("uvicorn", "edit", "the workbench needs Starlette and uvicorn")
    from spacy_incparse.repair.repair import find_rules
    from spacy_incparse.workbench.app import application
    from spacy_incparse.workbench.bench import Bench
    from spacy_incparse.workbench.journal import Journal, journal_path
    from spacy_incparse.workbench.learning import Learning
    from spacy_incparse.workbench.proposals import Proposer, load_model
    from spacy_incparse.workbench.sources import Source, kind_of

    path = path.resolve()  # one journal, whatever the name
    check_writable(path.parent)
    kind = kind_of(path, read_text(path))
    target = path if kind == "treebank" else path.with_name(f"{path.name}.mrg")
    base, folder = None if model == NONE else model or "en", target.with_name(f"{target.name}.model")
    learning = None if no_learning else Learning(folder, base, every=every, lang=lang)
    journal = Journal(journal_path(target))
    try:
        name = str(folder / "model") if (folder / "model").is_dir() and model in (None, NONE) else base
        # A treebank is there to be seen at once, and a parser comes while one looks at it.
        is_late = bool(name) and model is None and kind == "treebank"
        proposer = Proposer(_names(tags), _names(labels), lang) if is_late or not name else load_model(name)
        source = _source(path, kind, journal, lambda text: proposer.split(text), tokenized=tokenized)
        rule_names = rules or ("english" if (base or "").startswith("en") else None)
        bench = Bench(
            source, proposer, journal, rules=find_rules(rule_names) if rule_names else (),
            second=None if second is None else Source(second),
        )  # fmt: skip
        token, listener = token_urlsafe(24), _listener(port)
        port = listener.getsockname()[1]
        address = f"http://127.0.0.1:{port}/{token}/"
        echo(f"{len(source):,} sentences. Open {address} (end with Ctrl+C)")
        sys.stdout.flush()
        if not no_browser:
            webbrowser.open(address)
        app = application(bench, token, port, learning, model=name if is_late and name else "")
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, ws="none")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # the file is written then, too
        try:
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listener])
        finally:
            n_saved = bench.save()
            echo(f"{n_saved:,} trees are in {source.target}" if n_saved else "Nothing was changed")
    finally:
        journal.close()


def _listener(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone. Raises IncparseError if the port is taken."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()  # a browser that comes before the server waits
    except OSError as error:
        raise IncparseError(f"--port {port}: {error.strerror}: choose another one, or 0 for any") from None
    return listener


def _source(
    path: Path, kind: str, journal: Journal, split: Callable[[str], Iterable[Sequence[str]]], *, tokenized: bool
) -> Source:
    """Return a file; the sentences of a text are found once, and are in the journal from then on."""
    from spacy_incparse.workbench.sources import Source, checksum, conllu_sentences

    if kind == "treebank":
        return Source(path)
    known = next((record for record in journal.records if "sentences" in record), None)
    if known is None:
        text = read_text(path)
        lines = [line.split() for line in text.splitlines() if line.strip()] if tokenized else split(text)
        known = {"of": checksum(path), "sentences": conllu_sentences(path) if kind == "conllu" else list(lines)}
        journal.append(known)
    elif known["of"] != checksum(path):
        what = f"{path} was changed since its sentences were first edited"
        raise IncparseError(f"{what}: restore it, or move {journal.path} away to begin anew")
    return Source(path, known["sentences"], can_retokenize=kind != "conllu")
