"""`spacy incparse ...`: spaCy's command line imports this module, which is an entry point, when it starts."""

from spacy.cli._util import app as spacy_app

from spacy_incparse.cli import app

spacy_app.add_typer(app, name="incparse")
