"""The machinery that tests the code of documents finds all of it, and what is wrong with its output."""

import pytest
from sybil.document import Document

from tests import embedded_models
from tests.code_blocks import CHECKOUT, enter_folder, leave_folder, parse_blocks

TEXT = """
```sh
python3 -m venv .venv && .venv/bin/spacy-incparse --version
```

```text
spacy-incparse ...
```

```python
print("one")
x = 2
```

```text
one
```

```json
{"is": "not run"}
```

```python
print(x)
```

```console
$ echo $((1 + 1))
2
$ echo "(TOP (S (NN rain)))" > rain.mrg; printf 'a b' \\
    | wc -w | tr -d ' '
2
$ spacy-incparse search "NN < rain|NN" rain.mrg --count | cut -c 1 && cat rain.mrg
1
(TOP (S (NN rain)))
$ spacy-incparse stats nowhere.mrg
Error: nowhere.mrg...
(exit code 1)
$ ls assets/*.md
assets/README.md
```
"""


@pytest.fixture
def examples():
    """Return the examples of a document, in a folder of its own."""
    documents = []

    def _examples(text, name="docs/new.md"):
        document = Document(text, str(CHECKOUT / name))
        for region in parse_blocks(document):
            document.add(region)
        enter_folder(document.namespace)
        documents.append(document)
        return list(document.examples())

    yield _examples
    for document in reversed(documents):
        leave_folder(document.namespace)


def test_all_code_is_found_and_run_in_order(examples):
    found = examples(TEXT)
    assert [example.parsed.source.splitlines()[0] for example in found] == [
        "spacy-incparse --version",
        'print("one")',
        "print(x)",
        "echo $((1 + 1))",
        "echo \"(TOP (S (NN rain)))\" > rain.mrg; printf 'a b' \\",
        'spacy-incparse search "NN < rain|NN" rain.mrg --count | cut -c 1 && cat rain.mrg',
        "spacy-incparse stats nowhere.mrg",
        "ls assets/*.md",
    ]
    wrong = [example.region.evaluator(example) for example in found]
    assert [bool(message) for message in wrong] == [False, False, True, False, False, False, False, False]
    assert "-- expected --\n-- printed --\n2\n" in wrong[2]  # what is printed must be shown


def test_another_model_may_print_something_else(examples, monkeypatch):
    text = "```python\nimport spacy_incparse\n# spacy_incparse.load('en')\nprint(1)\n```\n\n```text\n2\n```\n"
    (example,) = examples(text)
    assert example.region.evaluator(example)
    monkeypatch.setattr(embedded_models, "checksums", dict)
    with pytest.raises(pytest.skip.Exception):
        example.region.evaluator(example)
    (example,) = examples(text, "README.md")
    assert example.region.evaluator(example)
    (example,) = examples(text.replace(".load", ".unload"))
    assert example.region.evaluator(example)
