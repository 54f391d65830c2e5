"""N-best lists as the parser of Charniak and Johnson (2005), BLLIP, writes them.

A line with the number of trees and the name of the sentence, then for each tree two lines: its log probability, and
its brackets, with root S1 and words in Penn spelling. An empty line ends the list. In lists that its reranker has
sorted, the reranker's score stands before the log probability.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy_incparse.errors import TreebankError
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_lines import Line, score_of
from spacy_incparse.rerank.list_records import Brackets, ListRecord
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree

HEADER = re.compile(r"\s*(\d{1,9})\s+(\S+)\s*")
_EXPECTED = "expected the number of trees and the name of a sentence, such as '50 sent_1'"


def read_bllip_lists(path: Path, lines: Iterable[Line]) -> Iterator[ListRecord]:
    """Yield the lists; their temperature is 1, because scores are log probabilities."""
    filled = (line for line in lines if line.text and not line.text.isspace())
    for line in filled:
        header = HEADER.fullmatch(line.text)
        if header is None:
            what = f"{line.text!r:.40} is no beginning of a list: {_EXPECTED}; are there more trees than announced?"
            raise TreebankError(path, line.number, 1, what)
        yield _read_list(path, line.number, int(header[1]), filled)


def write_bllip_list(found: CandidateList, number: int) -> Iterator[str]:
    """Yield the lines of a list.

    The format has no temperature, so scores are divided by it: their softmax is then the same at temperature 1.
    """
    yield f"{len(found.parses)} {number}"
    for parse in found.parses:
        yield repr(parse.score / found.temperature)
        yield _with_root_s1(parse.tree).to_string(ptb=True)
    yield ""


def _read_list(path: Path, first: int, n_trees: int, lines: Iterator[Line]) -> ListRecord:
    record, last = ListRecord(first), first
    for k in range(n_trees):
        score_line, tree_line = next(lines, None), next(lines, None)
        for line in (score_line, tree_line):
            if line is None or HEADER.fullmatch(line.text):
                place = last if line is None else line.number
                seen = "the file ends" if line is None else "another list begins"
                what = f"the list of line {first} has {n_trees} trees by its header, but {seen} after {k}"
                raise TreebankError(path, place, 1, f"{what}; is the file complete?")
            last = line.number
        assert score_line is not None
        assert tree_line is not None
        record.add(Brackets(tree_line.number, tree_line.text), _log_probability(path, score_line))
    return record


def _log_probability(path: Path, line: Line) -> float:
    """Return the parser's score; the line may begin with the reranker's."""
    numbers = line.text.split()
    if len(numbers) == 2:
        score_of(path, line.number, numbers[0], "score of the reranker")
        del numbers[0]
    return score_of(path, line.number, " ".join(numbers), "log probability")


def _with_root_s1(tree: Tree) -> Tree:
    if tree.label != ROOT or tree.size == 1:
        return tree
    arrays = tree.own_arrays
    return Tree(TreeArrays.of(("S1", *arrays.labels[1:]), arrays.sizes, arrays.words))
