"""Run `spacy-incparse ...` as `python -m spacy_incparse ...`."""

from spacy_incparse.cli import main

if __name__ == "__main__":
    main()
