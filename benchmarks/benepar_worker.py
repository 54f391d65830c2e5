"""benepar's side of benepar_comparison.py; runs in an environment that has benepar and need not have this package.

    python benepar_worker.py train|parse FOLDER SETTINGS

FOLDER has train.mrg and dev.mrg, one tree a line, and gets the trained parser and its trees. SETTINGS is JSON. The last
line of the output is JSON: CPU seconds and bytes.

benepar's package has the model and its loss, but no training program. This one has the settings of Adam, the warm-up of
160 steps, the sizes of the head and the weight of the tags' loss that are the defaults of `src/main.py` in benepar's
repository (commit 9b58e09), and its README's batches of 32 sentences. Two things differ: there are no layers of
attention between encoder and head (that program's default; its experiments with BERT have two), and the learning rates
and their schedule are those of our config, since the program's own waits for a dev part to stop improving. Tags are
predicted, as by this package's parser.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from process_memory import peak_bytes

BATCH = 32  # sentences
# Sentences of similar length go through the network together, with up to so many tokens. In training, benepar's default
# is 2000, for a GPU; it changes no gradient, but with less padding a processor needs less time.
GROUP = 500
WARM_UP = 160  # steps
HEAD = {
    "use_chars_lstm": False,
    "use_pretrained": True,
    "use_encoder": False,
    "d_model": 1024,
    "d_label_hidden": 256,
    "d_tag_hidden": 256,
    "predict_tags": True,
    "tag_loss_scale": 5.0,
}


@dataclass
class Example:
    """A sentence as benepar's parser reads it: words with tags, what their text was, and the tree to learn."""

    tagged: list[tuple[str, str]]
    words: list[str]
    space_after: list[bool]
    tree: object = None

    def pos(self) -> list[tuple[str, str]]:
        """Return the words of the treebank with their tags."""
        return self.tagged


def read_examples(path: Path, *, trees: bool) -> list[Example]:
    """Return the sentences, with benepar's guess of the text that the treebank's words had, and with trees or not."""
    from benepar.ptb_unescape import guess_space_after, ptb_unescape
    from nltk import Tree

    found = []
    for tree in map(Tree.fromstring, path.read_text(encoding="utf8").splitlines()):
        words = tree.leaves()
        found.append(Example(tree.pos(), ptb_unescape(words), guess_space_after(words), tree if trees else None))
    return found


def train(folder: Path, settings: dict) -> dict:
    """Train with a fixed number of passes, and save the parser."""
    import torch

    examples = read_examples(folder / "train.mrg", trees=True)
    torch.manual_seed(settings["seed"])
    started = time.process_time()
    parser = new_parser(examples, settings["encoder"])
    n_steps = settings["passes"] * -(-len(examples) // BATCH)
    optimizer, schedule = _optimizer(parser, n_steps, settings)
    random = Random(settings["seed"])
    parser.train()
    for _ in range(settings["passes"]):
        random.shuffle(examples)
        total = sum(_step(parser, batch, optimizer, schedule) for batch in _batches(examples))
        print(f"loss {total / len(examples) * BATCH:.2f}", flush=True)
    seconds = time.process_time() - started
    torch.save({"config": parser.config, "state_dict": parser.state_dict()}, folder / settings["name"])
    return {"seconds": seconds, "peak": peak_bytes()}


def new_parser(examples: list[Example], encoder: str):
    """Return an untrained parser above a pre-trained encoder."""
    from benepar.decode_chart import NeuralDecoder
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser

    trees = [example.tree for example in examples]
    hparams = HParams(**HEAD, pretrained_model=encoder)
    hparams.force_root_constituent = NeuralDecoder.infer_force_root_constituent(trees)
    tags = sorted({tag for example in examples for _, tag in example.pos()})
    return ChartParser(
        tag_vocab={tag: number for number, tag in enumerate(["UNK", *tags])},
        label_vocab=NeuralDecoder.build_vocab(trees),
        char_vocab={},
        hparams=hparams,
    )


def parse(folder: Path, settings: dict) -> dict:
    """Load the trained parser and parse; the trees are written after the clock has stopped."""
    started = time.process_time()
    import benepar  # noqa: F401

    imported = time.process_time()
    from benepar.parse_chart import ChartParser

    parser = ChartParser.from_trained(str(folder / settings["name"]))
    loaded = time.process_time()
    examples = read_examples(folder / "dev.mrg", trees=False)
    before = time.process_time()
    found = parser.parse(examples, return_compressed=True, subbatch_max_tokens=GROUP)
    seconds = time.process_time() - before
    figures = {"import": imported - started, "load": loaded - imported, "seconds": seconds, "peak": peak_bytes()}
    labels = {number: label for label, number in parser.label_vocab.items()}
    trees = (one.to_tree(each.pos(), labels, parser.tag_from_index) for one, each in zip(found, examples, strict=True))
    (folder / settings["trees"]).write_text("".join(f"{' '.join(str(tree).split())}\n" for tree in trees), "utf8")
    return figures


def _batches(examples: list[Example]):
    return (examples[start : start + BATCH] for start in range(0, len(examples), BATCH))


def _step(parser, batch: list[Example], optimizer, schedule) -> float:
    """Update the weights with a batch; return its loss."""
    optimizer.zero_grad()
    total = 0.0
    for _, group in parser.encode_and_collate_subbatches(batch, GROUP):
        loss = parser.compute_loss(group)
        loss.backward()
        total += loss.item()
    optimizer.step()
    schedule.step()
    return total


def _optimizer(parser, n_steps: int, settings: dict):
    """Return Adam, with a learning rate of the encoder and one of the layers above it, and their schedule."""
    import torch

    encoder = list(parser.pretrained_model.parameters())
    known = set(map(id, encoder))
    head = [weights for weights in parser.parameters() if id(weights) not in known]
    groups = [{"params": encoder, "lr": settings["rate"]}, {"params": head, "lr": settings["head_rate"]}]
    optimizer = torch.optim.Adam(groups, betas=(0.9, 0.98), eps=1e-9)
    warm_up = max(1, n_steps // 20) if settings["falls"] else WARM_UP

    def share(step: int) -> float:
        falling = (n_steps - step) / max(1, n_steps - warm_up) if settings["falls"] else 1.0
        return min(1.0, (step + 1) / warm_up, falling)

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, share)


def main() -> None:
    """Do one part and print its figures."""
    do = {"train": train, "parse": parse}[sys.argv[1]]
    figures = do(Path(sys.argv[2]), json.loads(sys.argv[3]))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
