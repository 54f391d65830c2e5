"""Measure what raw text costs a pipeline: F of sentences and tokens, F of trees that they cost, the splitter's speed.

    python benchmarks/sentences.py --treebanks SHARED/treebanks

A sentence counts if both its ends are right, by characters without blanks. GUM's dev documents come as one
line each, with their paragraphs, headings and items apart, and in lines of 72 characters; EWT's dev paragraphs
(SHARED/text/eval) and the Wall Street Journal, 20 sentences at a time, as one line each.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, short_name
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from train_splitter import gum, lines

from spacy_incparse.documents.gold import score_examples, trees_to_docs
from spacy_incparse.trees.tree import Tree

Text = tuple[str, list[str]]  # as it comes, and its sentences

TABLE = Table("Sentences", ("sentences F", "texts"))
LOSS = Table("Trees lost through sentence boundaries", ("F", "F with gold boundaries", "loss"))
TOKENS = Table("Trees lost through tokens", ("tokens F", "F", "F with gold tokens", "loss"))
RAW = Table("Trees of raw text, with own tokens and sentences", ("P", "R", "F"))
SPEED = Table("Speed of the splitter", ("share of the pipeline's time", "splitter words/s", "pipeline words/s"))
N_TOGETHER = 20  # sentences of a treebank


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline."""
    arguments = common.argument_parser(__doc__, model="en").parse_args(argv)
    nlp, name, path = open_pipeline(arguments.model), short_name(arguments.model), common.results_file(arguments)
    banks = {bank: common.read_part(arguments, bank, "dev") for bank in ("gum", "wsj")}
    rows = {}
    with nlp.select_pipes(disable=[pipe for pipe in nlp.pipe_names if pipe.startswith("incparse")]):
        for kind, texts in texts_of(arguments.treebanks, banks["wsj"]).items():
            rows[f"sentences-{kind}-{name}"] = [percent(sentence_f(nlp, texts)), str(len(texts))]
    publish(TABLE, rows, path, argv=argv)
    losses = {f"boundaries-{bank}-{name}": tree_f(nlp, trees) for bank, trees in banks.items()}
    publish(LOSS, losses, path, argv=argv)
    tokens = {f"tokens-{bank}-{name}": tokens_f(nlp, trees) for bank, trees in banks.items()}
    publish(TOKENS, tokens, path, argv=argv)
    publish(RAW, {f"raw-{bank}-{name}": raw_f(nlp, trees) for bank, trees in banks.items()}, path, argv=argv)
    publish(SPEED, {f"splitter-{name}": speeds(nlp, banks["gum"])}, path, argv=argv)


def texts_of(treebanks: Path, wsj: Sequence[Tree]) -> dict[str, list[Text]]:
    """Return the texts by what they are called in the names of rows."""
    documents = gum(treebanks / "gum" / "dev.conllu.gz", genres=None)
    web = [[]]
    for line in lines(treebanks.parent / "text" / "eval" / "ewt_dev.txt.gz"):
        if line:
            web[-1].append(line)
        elif web[-1]:
            web.append([])
    news = trees_to_docs(wsj, Language().vocab, natural_spacing=True, n_sents=N_TOGETHER)
    joined = [[" ".join(block) for block in blocks] for blocks in documents]
    sentences = [[sentence for block in blocks for sentence in block] for blocks in documents]
    return {
        "gum-line": [(" ".join(blocks), all_) for blocks, all_ in zip(joined, sentences, strict=True)],
        "gum-blocks": [(" ".join(block), block) for blocks in documents for block in blocks],
        "gum-wrapped": [
            ("\n\n".join(textwrap.fill(block, 72, break_on_hyphens=False) for block in blocks), all_)
            for blocks, all_ in zip(joined, sentences, strict=True)
        ],
        "ewt": [(" ".join(block), block) for block in web if block],
        "wsj": [(doc.text, [sentence.text for sentence in doc.sents]) for doc in news],
    }


def sentence_f(nlp: Language, texts: Sequence[Text]) -> float:
    """Return F of the sentences that a pipeline finds."""
    n_right = n_all = 0
    for (_, gold), doc in zip(texts, nlp.pipe(text for text, _ in texts), strict=True):
        expected, found = ends(gold), ends(sentence.text for sentence in doc.sents)
        n_right += len(expected & found)
        n_all += len(expected) + len(found)
    return 2 * n_right / n_all


def ends(sentences: Iterable[str]) -> set[tuple[int, int]]:
    """Return where sentences begin and end, without blanks."""
    return set(pairwise(accumulate((len("".join(text.split())) for text in sentences), initial=0)))


def tree_f(nlp: Language, trees: Sequence[Tree]) -> list[str]:
    """Return F of trees on gold tokens, with the pipeline's own sentences and with gold ones, and the loss."""
    figures = []
    references = list(trees_to_docs(trees, nlp.vocab, natural_spacing=True, n_sents=N_TOGETHER))
    for is_given in (False, True):
        docs = [
            Doc(
                nlp.vocab,
                words=[token.text for token in doc],
                spaces=[bool(token.whitespace_) for token in doc],
                sent_starts=[token.is_sent_start for token in doc] if is_given else None,
            )
            for doc in references
        ]
        pairs = zip(nlp.pipe(docs), references, strict=True)
        figures.append(score_examples(Example(doc, reference) for doc, reference in pairs).to_dict()["const_f"])
    return [*map(percent, figures), percent(figures[1] - figures[0])]


def tokens_f(nlp: Language, trees: Sequence[Tree]) -> list[str]:
    """Return F of tokens; F of trees on gold sentences with the pipeline's own tokens and with gold ones; the loss."""
    references, figures = list(trees_to_docs(trees, nlp.vocab, natural_spacing=True)), []
    for is_given in (False, True):
        docs = [
            Doc(nlp.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc]) if is_given
            else nlp.make_doc(doc.text)
            for doc in references
        ]  # fmt: skip
        for doc in docs:
            for token in doc:
                token.is_sent_start = token.i == 0
        examples = list(map(Example, nlp.pipe(docs), references))
        figures.append(score_examples(examples).to_dict()["const_f"])
        if not is_given:
            token_f = Scorer.score_tokenization(examples)["token_f"]
    return [*map(percent, (token_f, *figures, figures[1] - figures[0]))]


def raw_f(nlp: Language, trees: Sequence[Tree]) -> list[str]:
    """Return precision, recall and F of trees of raw text, 20 sentences at a time."""
    references = list(trees_to_docs(trees, nlp.vocab, natural_spacing=True, n_sents=N_TOGETHER))
    scores = score_examples(map(Example, nlp.pipe(doc.text for doc in references), references)).to_dict()
    return [percent(scores[f"const_{name}"]) for name in "prf"]


def speeds(nlp: Language, trees: Sequence[Tree]) -> list[str]:
    """Return the splitter's share of the pipeline's time after the tokenizer, and the speeds of both; the best of 3."""
    texts = [doc.text for doc in trees_to_docs(trees, nlp.vocab, natural_spacing=True, n_sents=N_TOGETHER)]
    seconds = {}
    for kind, left_out in (("splitter", [name for name in nlp.pipe_names if name != "senter"]), ("pipeline", [])):
        with nlp.select_pipes(disable=left_out):
            times = []
            for _ in range(3):
                docs = [nlp.make_doc(text) for text in texts]
                begin = time.process_time()
                for _ in nlp.pipe(docs):
                    pass
                times.append(time.process_time() - begin)
            seconds[kind] = min(times)
    n = sum(len(tree.words) for tree in trees)
    share = seconds["splitter"] / seconds["pipeline"]
    return [percent(share), *(f"{n / seconds[kind]:,.0f}" for kind in ("splitter", "pipeline"))]


if __name__ == "__main__":
    main()
