"""The `serve` command: parse over HTTP."""

from __future__ import annotations

import json
import os
import socket

from typer import Option, echo

from spacy_incparse.cli.options import takes
from spacy_incparse.errors import IncparseError, optional_module


@takes(
    host=Option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0 is everywhere."),
    port=Option("--port", "-p", min=0, max=65535, metavar="N", help="0: any that is free."),
    workers=Option("--workers", min=1, metavar="N", help="Processes, each with its own pipeline and queue."),
    queue=Option("--queue", min=1, metavar="N", help="Requests that may wait; others get status 503."),
    max_chars=Option("--max-chars", min=1, metavar="N", help="Characters that a request may have."),
    timeout=Option("--timeout", min=0.001, metavar="SECONDS", help="Time that a request may take."),
)
def serve_command(
    model: str = "en", host: str = "127.0.0.1", port: int = 9000, workers: int = 1, queue: int = 64,
    max_chars: int = 100_000, timeout: float = 60,
) -> None:  # fmt: skip
    """Parse over HTTP: JSON, and the protocol of CoreNLP's server. The page /docs describes the operations.

    \b
    Examples:
      spacy-incparse serve
      spacy-incparse serve --model en_accurate --port 8000 --workers 4
    """
    server = optional_module("spacy_incparse.server.app", "serve", "the server needs uvicorn and starlette")
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            port = probe.getsockname()[1]
    except OSError as error:
        raise IncparseError(f"port {port} of {host!r} cannot be served ({error.strerror}): choose another") from None
    settings = (model, queue, max_chars, timeout)
    app = server.create_app(*settings)  # a wrong model is an error here, not in the workers
    echo(f"Serving {model} at http://{host}:{port} (Ctrl-C stops it)")
    if workers > 1:
        os.environ[server.SETTINGS], app = json.dumps(settings), "spacy_incparse.server.app:create_app"
    several = {"factory": workers > 1, "workers": workers}
    server.uvicorn.run(app, host=host, port=port, http="h11", lifespan="off", log_level="warning", **several)
