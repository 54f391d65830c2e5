"""Train the sentence splitter of the embedded English pipelines, and put it into them.

    python benchmarks/train_splitter.py SHARED

SHARED has `treebanks` and `text`. No dev part is opened. Gold boundaries come from GUM (the genres that may be used, as
written), CRAFT and MASC; those of other texts are found by rules, and paragraphs left out where these are not sure.
What is rare is made from them: abbreviations, lists, headings, e-mail, straight quotes, broken-off sentences.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from embedded_sources import GENRES

import spacy_incparse
from spacy_incparse.data import embedded_names, find_pipeline
from spacy_incparse.pipeline.splitter import SentenceSplitter
from spacy_incparse.tokens import detokenize
from spacy_incparse.treebanks.reader import read_treebank

Paragraph = list[str]  # sentences

N_ROUNDS = 8  # passes over GUM, each with other abbreviations, lists and so on; the larger sources come in parts
TEXTS = {  # paragraphs of each; their licences are in docs/english.md
    "wikinews": 2500, "18f_blog": 2000, "digitalgov": 2000, "speeches_presidents": 1500, "openstax_philosophy": 600,
    "openstax_business": 900, "openstax_sociology": 600, "medquad_nih": 800, "tech_peps": 1000,
    "tech_opensource_guide": 400, "dialogue_taskmaster4": 400, "questions_banking77": 500,
    "fiction_p_g_wodehouse": 3000, "fiction_f_scott_fitzgerald": 3000,
}  # fmt: skip

# Boundaries by rules: never after these, and after those only before a word that is capital for no other reason.
END = re.compile(r"(?<=[.!?…])([”\"’)\]]*)\s+(?=[“\"‘(\[]?[A-Z0-9])")
NEVER = re.compile(
    r"(?:^|[\s(“\"‘—-])(?:Mr|Mrs|Ms|Dr|St|Messrs|Prof|Capt|Col|Gen|Lt|Rev|Sen|Reps?|Gov|Sgt|Hon|Nos?|vs|Figs?|Eq|cf|"
    r"e\.g|i\.e|Jan|Feb|Aug|Sept?|Oct|Nov|Dec|Mt|Ft|[A-Z])\.$"
)
MAYBE = re.compile(
    r"(?:\b[A-Za-z]\.[A-Za-z]\.|\b(?:Inc|Corp|Co|Ltd|Jr|Sr|etc|al|approx|Ave|Blvd|Dept|Univ|Bros|Assn|Calif|Mass|Conn|"
    r"min|max|ft|lb|oz|pp?|vol|ch|sec|est|art|eds?|[B-Z]))\.$"
)
BEGINNERS = frozenset(
    "The It He She They We But And In This That There When If An As At For However These Those His Her Its Our My You "
    "On Since While After Before Although Some Many Most No What How Why With By From To So".split()
)
SAID = re.compile(
    r"(?:I|he|she|they|we|[A-Z][a-z]+|(?:Mr|Mrs|Ms|Dr)\. [A-Z][a-z]+|(?:The|My|Her|His|Our) [a-z]+)(?: [A-Z][a-z]+)?"
    r" (?:said|says|asked|cried|replied|answered|shouted|whispered|murmured|went|returned|demanded|exclaimed|remarked|"
    r"inquired|began|added|continued|repeated|told|wrote|recalled|noted|explained)\b"
)
UNSURE = re.compile(r"  |[a-z][.!?][A-Z]|http|\*\*|__")
GLUED = re.compile(r"[a-z]{4}[.!?] [A-Z][a-z]")
CUT = re.compile(r"(?:^|[\s(])(?:Figs?|Mrs?|Ms|Dr|vs|No|al|e\.g|i\.e|St|Lt|Gen|Rep|Sen|pp|cf|Prof)\.$")
STRAY = re.compile(r"\s\"\s|\w\"\w|\"[.,]\S|^\"$")
CONTRACTION = re.compile(r"(\w) ’ (s|t|re|ve|ll|d|m)\b")

TITLES = (
    "Mr. Mrs. Ms. Dr. Prof. Lt. Col. Sgt. Gen. Maj. Capt. Sen. Rep. Gov. Rev. Hon. St. Adm. Cmdr. Supt. Pres. "
    "Messrs. Mme. Fr. Pvt. Cpl. Mt. Ft. J. R. W. C. L. H. M. S. E. J. P. G. 200 40 2010 million 15"
).split()
WITHIN = (  # a sentence
    "No. 1|No. 7|no. 12|Nos. 3|Fig. 3|Figs. 2|fig. 1|p. 14|pp. 3|Vol. 2|vol. 11|Sec. 4|Art. 5|ch. 3|Ch. 9|"
    "Eq. 2|approx. 40|ca. 1890|c. 1600|Jan. 5|Feb. 12|Aug. 3|Sept. 30|Oct. 8|Nov. 2|Dec. 24|e.g. Paris|"
    "i.e. Monday|cf. Smith|vs. England|a.k.a. Red|St. Mary|U.S. Army|U.S. Senate|U.K. Parliament|Inc. and|"
    "Ltd. of|Ph.D. student|J. R. Hale|A. Brown|George W. Hall|Ref. 5|Tab. 1|No. 10 Downing Street|"
    "Dept. of Labor|Univ. of Leeds|Gen. Grant|D.C. area|Ex. 3|Mt. Ida|Ave. in|St. in|Blvd. near|viz. Rome|"
    "op. cit.|Bros. of|Co. of|Corp. in|Inc. in|Inc. has|Corp. said|Co. Chairman|"
    "Edward L. Kane|Ann C. Wood|Inc. President|S&P 500|S&P 500|AT&T Corp.|R&D Director|Q&A Session|Mr. Hale|Mrs. Dunn|"
    "Ms. Reed|Indeed, Mr. Orme|S.p.A. of|Pty. of|in Newsweek|$5 million Army contract|the A&W chain|B&B Hotel|P&L Item"
).split("|")
LAST = (  # in a sentence
    "p.m.|a.m.|5 p.m.|at 11 a.m.|D.C.|the U.S.|the U.K.|the U.N.|Inc.|Corp.|Ltd.|Co.|Jr.|etc.|et al.|Ph.D.|"
    "B.C.|A.D.|St.|Ave.|No. 5|Washington, D.C.|Fig. 2|Mr. Lee|J. B.|Bros.|the E.U.|M.D.|Sept. 9|"
    "Los Angeles, Calif.|Boston, Mass.|6 ft.|3 lb.|10 min.|1,460.|890.|12 3/4.|1992.|27%.|$5 million.|"
    "$1.2 billion.|3.|42.5.|2004.|10th.|S&P.|5-6.|Hale & Wood Inc.|Bay Foods Corp.|Lake & Co.|"
    "Delta Water Inc.|Omega Group Ltd.|N.C.|S.A.|the Rand Corp.|Kane Inc.|Sands Co.|"
    "Inc.|Corp.|Co.|Ltd.|Reed & Bell Inc.|Inc.|Corp.|Ashby Tools Inc.|Morris & Co.|"
    "May 4|October 10|Nov. 14|June 30|August 31|5|31|89|17%|the year ended March 31"
).split("|")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday March".split()
ITEMS = ["- ", "* ", "• ", "– ", "%d. ", "%d) ", "(%d) ", "%s) ", "(%s) ", "Step %d: ", "%d. ", "- ", "%s. "]
NAMES = ["Anna", "Bob", "Maria Lopez", "Tom Hill", "Jane Doe", "Dr. Ivan Petrov", "Kim", "Sales Team"]
SUBJECTS = ["Re: meeting", "Fwd: your order", "lunch on Friday", "Question about the report", "Minutes"]
ENDINGS = ["Thanks,", "Best regards,", "Cheers,", "Regards,", "Yours sincerely,", "Best,", "Love,", "Thank you."]
CRIES = [
    "Oh.",
    "Okay.",
    "Yes.",
    "No.",
    "Well ...",
    "Um ...",
    "Right.",
    "What?",
    "Wow.",
    "Hm.",
    "Oh my God.",
    "Yeah, I know.",
]
LITTLE = frozenset("the a of and to in for with is was that".split())


SOURCE = {
    "name": "Texts for the sentence splitter: Wikinews; OpenStax (philosophy, business, sociology), MedQuAD, Open "
    "Source Guides, Taskmaster, Banking77; 18F, Digital.gov, presidents' speeches, PEPs, old stories",
    "url": "https://en.wikinews.org",
    "author": "their contributors and authors",
    "license": "CC BY 2.5; CC BY 4.0; public domain in the US",
}


def main() -> None:
    """Train, and replace the splitter of each embedded pipeline."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("shared", type=Path, help="folder with treebanks and text")
    given = arguments.parse_args()
    splitter = train(sources(given.shared))
    for name in embedded_names():
        nlp = spacy_incparse.load(name, exclude=["senter"])
        own = nlp.add_pipe("incparse_senter", name="senter", first=True)
        own.model.from_bytes(splitter.model.to_bytes())
        nlp.meta["sources"] = [*(source for source in nlp.meta["sources"] if source["name"] != SOURCE["name"]), SOURCE]
        with TemporaryDirectory() as folder:  # the other files stay as they are
            new = Path(folder) / name
            nlp.to_disk(new, exclude=["tokenizer", "vocab", "incparse", "incparse_neural"])
            shutil.copytree(new, find_pipeline(name), dirs_exist_ok=True)


def train(documents: dict[str, list[list[Paragraph]]]) -> SentenceSplitter:
    """Return a splitter that has learnt from the documents of `sources`."""
    nlp = spacy_incparse.load("en", exclude=["senter", "incparse"])
    splitter = nlp.add_pipe("incparse_senter")
    headings = [
        sentence
        for name in ("gum", "craft")
        for document in documents[name]
        for block in document
        for sentence in block
        if sentence[-1].isalnum() and sentence.count(" ") < 10 and (name == "craft" or len(block) == 1)
    ]
    rng, found = random.Random(0), list[str]()
    for number in range(N_ROUNDS):
        for name, texts in documents.items():
            every = 1 if name == "gum" else 6 if name == "craft" else 2
            found += varied(texts[number % every :: every] * (2 if name == "gum" else 1), headings, rng)
    splitter.model.initialize()
    splitter.learn(nlp.tokenizer, found, n_passes=1)
    return splitter


def sources(shared: Path) -> dict[str, list[list[Paragraph]]]:
    """Return the documents of each source."""
    banks, rng = shared / "treebanks", random.Random(1)
    craft = [detokenize(tree.words, tree.tags)[0] for tree in read_treebank(banks / "craft" / "train.mrg")]
    texts = {name: by_rules(lines(shared / "text" / f"{name}.txt.gz"), n) for name, n in TEXTS.items()}
    found = {
        "gum": gum(banks / "gum" / "train.conllu.gz"),
        "craft": [runs(craft[i : i + 60], rng) for i in range(0, len(craft), 60)],
        "masc": [runs(part, rng) for part in masc(lines(shared / "text" / "masc.txt.gz")) if len(part) > 2],
    }
    return found | {name: [some[i : i + 40] for i in range(0, len(some), 40)] for name, some in texts.items()}


def lines(path: Path) -> list[str]:
    """Return the lines of a text."""
    return [line.strip() for line in gzip.decompress(path.read_bytes()).decode("utf8").splitlines()]


def runs(sentences: Sequence[str], rng: random.Random) -> list[Paragraph]:
    """Return sentences as paragraphs of various lengths."""
    found, rest = list[Paragraph](), list(sentences)
    while rest:
        size = rng.choice([1, 2, 3, 4, 5, 6, 8])
        found.append(rest[:size])
        rest = rest[size:]
    return found


def gum(path: Path, genres: frozenset[str] | None = GENRES) -> list[list[Paragraph]]:
    """Return GUM's documents of some genres, or all: paragraphs, headings and items, with sentences as written."""
    documents, name, is_new = dict[str, list[Paragraph]](), "", True
    for line in lines(path):
        if line.startswith("# newpar"):
            is_new = True
        elif line.startswith("# sent_id = "):
            name = line.removeprefix("# sent_id = ").rpartition("-")[0]
        elif line.startswith("# text = "):
            blocks = documents.setdefault(name, [])
            if is_new or not blocks:
                blocks.append([])
            blocks[-1].append(line.removeprefix("# text = "))
            is_new = False
    return [blocks for name, blocks in documents.items() if genres is None or name.split("_")[1] in genres]


def masc(given: Iterable[str]) -> Iterator[list[str]]:
    """Yield stretches of MASC's sentences between damaged ones: quotes lie apart, some are glued or cut."""
    part, cut, is_open = list[str](), "", False
    for line in given:
        text = cut + CONTRACTION.sub(r"\1’\2", line)
        for wrong, right in (("“ ", "“"), (" ”", "”"), ("‘ ", "‘"), ("( ", "("), ("[ ", "[")):
            text = text.replace(wrong, right)
        text = re.sub(r" ([,.;:!?)\]])(?=\s|$)", r"\1", text)
        while is_open and part and re.match(r"[\")\]”]\s", text):  # it closes what the line before opened
            part[-1] += text[0]
            is_open, text = is_open and text[0] != '"', text[1:].strip()
        first, *pieces = text.split('"')
        for piece in pieces:
            is_open = not is_open
            first = f'{first}"{piece.lstrip()}' if is_open else f'{first.rstrip()}"{piece}'
        text = first.strip()
        is_open = is_open and len(text) < 500
        cut = f"{text} " if CUT.search(text) else ""
        is_bad = (
            not text or len(text) > 600 or "�" in text or STRAY.search(text) or "Message-ID" in text
            or re.search(r"T \d\d:\d\d:\d\d Z|^[)\]”]", text)
            or (GLUED.search(text) and not re.search(r"[\"“”(\[]", text))
            or text.count('"') % 2 or text.count("“") != text.count("”")
        )  # fmt: skip
        if is_bad:
            yield part
            part, is_open = [], False
        elif not cut:
            part.append(text)
    yield part


def by_rules(given: Iterable[str], n: int) -> list[Paragraph]:
    """Return the sentences of the first n of every second paragraph, without those whose boundaries are not sure."""
    found = list[Paragraph]()
    for text in [line for line in given if line][::2]:
        if len(found) == n:
            break
        is_usual = 30 <= len(text) <= 1500 and not UNSURE.search(text) and re.search(r"[.!?…][”\"’)\]]*$", text)
        is_whole = text.count('"') % 2 == 0 and text.count("“") == text.count("”")
        sentences = _split(text) if is_usual and is_whole else None
        if sentences and all(part.count("(") == part.count(")") for part in sentences):
            found.append(sentences)
    return found


def _split(text: str) -> list[str] | None:
    sentences, begin = list[str](), 0
    for match in END.finditer(text):
        left, right = text[begin : match.end(1)], text[match.end() :]
        word = re.match(r"[“\"‘(\[]?(\w+)", right)
        if word is None:
            return None
        if NEVER.search(left) or (re.search(r"[?!…][”\"]$", left) and SAID.match(right)):
            continue
        if MAYBE.search(left) and word[1] not in BEGINNERS:
            if re.search(r"\b(?:U\.S|U\.N|U\.K|E\.U)\.$", left):
                continue
            return None
        if word[1].isdigit() and not re.search(r"[a-z]{3}[.!?][”\"]?$", left):
            return None
        if re.search(r"(?:…|\.\.\.)[”\"’)\]]*$", left) or (left[-1] in ")]" and left[0] not in "(["):
            return None
        sentences.append(left)
        begin = match.end()
    return [*sentences, text[begin:]]


def varied(documents: Iterable[list[Paragraph]], headings: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Yield the lines to learn from: sentences, and an empty line after each paragraph, heading and item."""
    for document in documents:
        is_straight = rng.random() < 0.5
        for block in document:
            sentences = [
                abbreviated(broken_off(sentence, rng), rng)
                for sentence in block
                for sentence in ([sentence] if rng.random() < 0.97 else [rng.choice(CRIES), sentence])
            ]
            if is_straight:
                sentences = [sentence.translate(STRAIGHT) for sentence in sentences]
            chance, parts = rng.random(), [sentences]
            if chance < 0.08 and all(len(sentence) < 160 for sentence in sentences):
                parts = [[item] for item in items(sentences, rng)]
                if rng.random() < 0.5:
                    parts.insert(0, [heading(sentences[-1], rng) + ":"])
            elif chance < 0.14:
                parts = [[heading(rng.choice([sentences[0], *3 * [rng.choice(headings)]]), rng)], sentences]
            elif chance < 0.145:
                sentences[0] = heading(sentences[0], rng) + rng.choice([" -- ", " — ", ": ", " - "]) + sentences[0]
            elif chance < 0.153:  # as newspapers begin a short report
                words = rng.choice([sentences[0], *3 * [rng.choice(headings)]]).rstrip(".!?:").split(" ")
                sentences.insert(0, " ".join(words[: rng.randint(1, 4)]).upper() + ":")
            elif chance < 0.173:
                parts = mail(sentences, rng)
            elif chance < 0.183:
                parts = [[rng.choice(["***", "* * *", "---", "###", "____"])], sentences]
            for part in parts:
                yield from [*part, ""]


def abbreviated(sentence: str, rng: random.Random) -> str:
    """Return some sentences with an abbreviation or number, before a name, within or at the end."""
    if rng.random() > 0.1 or sentence.count(" ") < 4:
        return sentence
    words, where = sentence.split(" "), rng.random()
    if where < 0.15:
        places = [i for i in range(2, len(words)) if re.fullmatch(r"[a-z]+", words[i - 1])]
        if places:
            words.insert(rng.choice(places), rng.choice(DAYS))
            return " ".join(words)
    if where < 0.45:
        names = [i for i in range(1, len(words)) if re.match(r"[A-Z][a-z]+", words[i]) and words[i - 1][-1:].islower()]
        if names:
            words.insert(rng.choice(names), " ".join(rng.choice(TITLES) for _ in range(rng.choice([1, 1, 1, 2]))))
            return " ".join(words)
    if where < 0.72:
        places = [i for i in range(1, len(words)) if re.fullmatch(r"[a-z]+", words[i - 1])]
        if places:
            words.insert(rng.choice(places), rng.choice(WITHIN))
            return " ".join(words)
    end = re.match(r"(.*\s)\w+\.$", sentence)
    if end is None:
        return sentence
    last = rng.choice(LAST)
    return end[1] + (last if last.endswith(".") else f"{last}.")


def broken_off(sentence: str, rng: random.Random) -> str:
    """Return some sentences without their full stop, or with a dash or dots instead."""
    if not sentence.endswith(".") or rng.random() > 0.05:
        return sentence
    return sentence[:-1] + rng.choice(
        ["", "", "", " —", " —", " —", " –", " –", "...", " ...", "…", "!", "?", "!!", ";"]
    )


def items(sentences: Sequence[str], rng: random.Random) -> list[str]:
    """Return sentences as the items of a list."""
    mark, has_stops, found = rng.choice(ITEMS), rng.random() < 0.5, list[str]()
    for number, sentence in enumerate(sentences):
        text = sentence if has_stops or sentence.count(" ") > 18 else sentence.removesuffix(".")
        begin = mark.replace("%d", str(number + 1)).replace("%s", chr(97 + number % 26))
        found.append(begin + text)
    return found


def heading(text: str, rng: random.Random) -> str:
    """Return a heading: another one, or words that a sentence begins with."""
    words = re.sub(r"[.!?,;:\"“”]", "", text).split()[: rng.randint(1, 9) if text.endswith(".") else 10] or ["Notes"]
    while len(words) > 1 and words[-1].lower() in LITTLE:
        words.pop()
    text, style = " ".join(words), rng.random()
    if style < 0.2:
        return text.upper()
    if style < 0.55:
        text = " ".join(word if word in LITTLE else word[:1].upper() + word[1:] for word in words)
    return text[:1].upper() + text[1:]


def mail(sentences: list[str], rng: random.Random) -> list[Paragraph]:
    """Return a message of sentences."""
    head = [rng.choice(["From: ", "To: ", "Cc: "]) + rng.choice(NAMES) for _ in range(rng.randint(1, 3))]
    head += [f"Subject: {rng.choice(SUBJECTS)}"]
    greeting = rng.choice(["Hi ", "Dear ", "Hello ", ""]) + rng.choice(NAMES) + rng.choice([",", ",", "!", ":"])
    rest = [greeting, rng.choice(ENDINGS), rng.choice(NAMES)]
    return [*([part] for part in (head if rng.random() < 0.6 else [])), rest[:1], sentences, rest[1:2], rest[2:]]


STRAIGHT = str.maketrans("“”‘’", "\"\"''")

if __name__ == "__main__":
    main()
