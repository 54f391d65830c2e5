"""`python -m spacy_incparse ...` is `spacy-incparse ...`."""

from spacy_incparse.cli import main

if __name__ == "__main__":
    main()
