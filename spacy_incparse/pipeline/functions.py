"""The component `incparse_functions`, which adds function tags and empty categories to the trees of a Doc."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_incparse.documents.gold import check_found, gold_trees, placed_trees
from spacy_incparse.documents.relations import write_dependencies
from spacy_incparse.documents.storage import Key, anchored_tree, replace_trees, stored_trees
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.functions.rules import completed
from spacy_incparse.functions.tables import NAMES, english
from spacy_incparse.pipeline.model import FunctionsModel, check_source
from spacy_incparse.pipeline.tree_pipe import TrainedPipe
from spacy_incparse.settings import check_choice
from spacy_incparse.training.settings import head_rules
from spacy_incparse.trees.codec import reannotated
from spacy_incparse.trees.empties import Annotation

if TYPE_CHECKING:
    from spacy_incparse.functions.annotator import Annotator

LABELS = ("category", "full")
TRAINING: dict[str, Any] = {"heads": None, "seed": 0, "tags": None}


def create_functions_scorer() -> Callable[..., dict[str, Any]]:
    """Return `functions_score`, for `@scorers = "spacy_incparse.functions_scorer.v1"` in a config."""
    return functions_score


def functions_score(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Return the F of function tags end to end, of subjects, and of empty categories without and with antecedents.

    The keys are functions_f, subjects_f, empties_f and antecedents_f, fractions as in `evaluation.annotations`; all are
    None if no example has gold functions. A sentence whose words differ from the gold ones counts as one without any.
    """
    from spacy_incparse.evaluation.annotations import AnnotationScores

    scores, is_gold = AnnotationScores(), False
    for example in examples:
        found = {tuple(one.starts): one.tree for one in placed_trees(example.predicted)}
        for gold in placed_trees(example.reference):
            is_gold |= gold.tree.arrays.annotation is not None
            scores.add(gold.tree, found.get(tuple(gold.starts)) or gold.tree.strip_functions())
    figures = (scores.whole.total(), scores.whole.total(["SBJ"]), scores.empties.total(), scores.linked.total())
    values = [counts.f if is_gold else None for counts in figures]
    return dict(zip(("functions_f", "subjects_f", "empties_f", "antecedents_f"), values, strict=True))


@Language.factory(
    "incparse_functions",
    assigns=["doc._.trees"],
    requires=["doc._.trees"],
    default_config={
        "model": None,
        "functions": True,
        "empties": True,
        "labels": "category",
        "dependencies": False,
        "training": TRAINING,
        "scorer": {"@scorers": "spacy_incparse.functions_scorer.v1"},
    },
    default_score_weights={"functions_f": 0.5, "antecedents_f": 0.5, "subjects_f": 0.0, "empties_f": 0.0},
)
def make_incparse_functions(
    nlp: Language,
    name: str,
    model: str | Path | None,
    functions: bool,
    empties: bool,
    labels: str,
    dependencies: bool,
    training: dict[str, Any],
    scorer: Callable | None,
) -> FunctionFinder:
    """Create the component. It must come after the parser, and after a reranker.

    model: the source of the weights: the name or path of a pipeline with this component; "en": the embedded ones.
    functions: whether to add function tags.
    empties: whether to add empty categories and their antecedents.
    labels: "category": `node.label` stays as it is; "full": it gets the functions, as in "NP-SBJ".
    dependencies: whether to write token.head and token.dep_, read off the trees by the English table.
    training: `heads`, head rules as in `incparse`; `seed`; `tags`, the function tags to learn, None for all.
    scorer: as in every spaCy component.
    """
    check_source(nlp, name, model, FunctionsModel)
    return FunctionFinder(
        nlp.vocab, FunctionsModel(model), name, functions=functions, empties=empties, labels=labels,
        dependencies=dependencies, training=training, scorer=scorer,
    )  # fmt: skip


class FunctionFinder(TrainedPipe):
    """Adds function tags and empty categories to the trees on a Doc. See `make_incparse_functions` for all settings.

    The trees may be those of any parser, or given ones; words and phrases do not change. All training happens in
    `initialize`, so `update` does nothing.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: FunctionsModel,
        name: str = "incparse_functions",
        *,
        functions: bool = True,
        empties: bool = True,
        labels: str = "category",
        dependencies: bool = False,
        training: dict[str, Any] | None = None,
        scorer: Callable | None = functions_score,
    ):
        super().__init__(vocab, model, name, scorer)
        check_choice(f"{name}: labels", labels, LABELS)
        self.functions, self.empties, self.label_form, self.dependencies = functions, empties, labels, dependencies
        self.training = TRAINING | (training or {})
        if unknown := sorted(set(self.training) - set(TRAINING)):
            raise ConfigError(f"{name}: training has no setting {unknown[0]!r}; expected {', '.join(TRAINING)}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The function tags that the model knows; () before training."""
        return self.model.tags

    def predict(self, docs: Iterable[Doc]) -> list[dict[Key, str]]:
        """Return for each Doc the strings that store its trees with functions and empties; the Docs do not change."""
        annotator = self._annotator()
        return [
            {key: self._annotated(annotator, doc, key, value) for key, value in stored_trees(doc).items()}
            for doc in docs
        ]

    def set_annotations(self, docs: Iterable[Doc], scores: list[dict[Key, str]]) -> None:
        """Store the trees that `predict` returned on the Docs."""
        for doc, found in zip(docs, scores, strict=True):
            replace_trees(doc, found)
            if self.dependencies and found:
                write_dependencies(doc)

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None, labels: Any = None
    ) -> None:
        """Learn from the gold trees of all examples, and from the trees of their predicted Docs, if they have any.

        A component with weights keeps them if no example has functions or empty categories. Raises IncparseError if
        there is nothing to learn from.
        """
        from spacy_incparse.functions.annotator import Annotator

        examples = list(get_examples())
        trees = [tree for tree in gold_trees(examples) if tree.arrays.annotation is not None]
        if not trees and self.model.learnt is not None:
            return
        check_found(trees, self.name)
        parses = [found.tree for example in examples for found in placed_trees(example.predicted)]
        self.model.learnt = Annotator.train(
            trees,
            parses,
            heads=head_rules(self.training["heads"], self.vocab.lang),
            seed=self.training["seed"],
            keep=self.training["tags"],
        )

    def _annotated(self, annotator: Annotator, doc: Doc, key: Key, value: str) -> str:
        """Return the string of a tree with what was found; as it is if it is not about the Doc's text, or fails."""
        try:
            anchored = anchored_tree(doc, key, value)
            if anchored is None:
                return value
            tree, old = anchored.tree, anchored.tree.arrays.annotation or Annotation()
            arrays = annotator.annotate(tree, empties=self.empties).arrays
            if self.empties and self.vocab.lang in NAMES:
                arrays = completed(arrays, english())
            new = arrays.annotation or Annotation()
            functions = new.functions if self.functions else old.functions
            both = tree.annotate(functions, new.empties if self.empties else old.empties)
            return reannotated(value, both.arrays, full_labels=self.label_form == "full")
        except Exception as error:
            start = doc.text[max(key[2], 0) : key[3]]
            self._warn_once("error", f"a tree stays as it is, because annotating it failed ({error!r}): {start!r:.60}")
            return value

    def _annotator(self) -> Annotator:
        annotator = self.model.learnt
        if annotator is None:
            raise IncparseError(
                f"the component {self.name!r} has no weights yet: choose a model, as in "
                f"nlp.add_pipe('incparse_functions', config={{'model': 'en'}}), or train it (nlp.initialize())"
            )
        return annotator
