"""`spacy incparse ...`: spaCy imports this module, named as an entry point, when its own command line starts."""

from spacy.cli._util import app as spacy_app

from spacy_incparse.cli import app

spacy_app.add_typer(app, name="incparse")
