"""Small corpora for the tagger's tests: written for them, or random."""

import random

from hypothesis import strategies as st

SENTENCES = [
    "The old dog saw a cat .",
    "She will run the race again .",
    '" A run is fun , " said the old man .',
    "Dogs run and cats sleep .",
    "He saw the saw in Norway in 1999 .",
    "The long race was won by a well-known Norwegian .",
]
TAGS = [
    "DT JJ NN VBD DT NN .",
    "PRP MD VB DT NN RB .",
    "`` DT NN VBZ NN , '' VBD DT JJ NN .",
    "NNS VBP CC NNS VBP .",
    "PRP VBD DT NN IN NNP IN CD .",
    "DT JJ NN VBD VBN IN DT JJ NNP .",
]


def written_corpus():
    """(sentences, tags) as lists of lists."""
    return [line.split() for line in SENTENCES], [line.split() for line in TAGS]


def random_corpus(n_sentences, seed, n_words=60, labels=("A", "B", "C", "D")):
    """Words that mostly keep one tag, in sentences of up to 12."""
    generator = random.Random(seed)
    words = [generator.choice("abcXYZ19-") * generator.randint(1, 3) + str(number) for number in range(n_words)]
    usual = {word: generator.choice(labels) for word in words}
    sentences = [[generator.choice(words) for _ in range(generator.randint(0, 12))] for _ in range(n_sentences)]
    tags = [[usual[w] if generator.random() < 0.8 else generator.choice(labels) for w in row] for row in sentences]
    return [*sentences, [words[0]]], [*tags, [usual[words[0]]]]


any_text = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(
    ["", " ", '"', "\x00", "<before>"]
)
