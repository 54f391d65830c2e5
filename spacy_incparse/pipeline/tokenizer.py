"""The tokenizer of the English pipelines, and one that learns the words of a treebank."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, product

from spacy.language import Language
from spacy.symbols import ORTH
from spacy.tokenizer import Tokenizer
from spacy.training import Example
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex, registry

from spacy_incparse.errors import ConfigError

# Words whose full stop stays, as in treebanks, beside those that spaCy knows; as words of their own they are rare.
_ABBREVIATIONS = (
    "al. etc. cf. pp. ed. eds. vol. approx. ext. dept. tel. ca. op. cit. ibid. misc. oz. lb. lbs. tbsp. tsp. hrs. "
    "mins. Al. Etc. Cf. Eds. Vol. Approx. Ext. Dept. Tel. Fig. Figs. Eq. Eqs. Nos. Lt. Col. Capt. Cpl. Sgt. Cmdr. Maj. "
    "Pvt. Drs. Sr. Esq. Hon. Assoc. Univ. Inst. Ave. Blvd. Rd. Ste. Chr. Nr. Ph."
).split()
_CONTRACTIONS = "wan|na Wan|na gim|me Gim|me lem|me Lem|me d'|ye D'|ye 't|is 'T|is 't|was 'T|was".split()


def create_penn_tokenizer() -> Callable[[Language], Tokenizer]:
    """Return `penn_tokenizer`, for `[nlp.tokenizer]` with `@tokenizers = "spacy_incparse.PennTokenizer.v1"`."""
    return penn_tokenizer


def penn_tokenizer(nlp: Language) -> Tokenizer:
    """Return spaCy's tokenizer for English with the words of the Penn Treebank.

    Words with hyphens (well-known, 1990-95), more abbreviations, decades and years ('90s, '99) stay whole; wanna,
    gimme, lemme, d'ye, 'tis and 'twas are two words.
    """
    tokenizer: Tokenizer = registry.tokenizers.get("spacy.Tokenizer.v1")()(nlp)
    infixes = [
        infix.replace("(?:-|", "(?:").replace(r"[+\-\*^](?=[0-9-])", r"[+\*^](?=[0-9])")
        for infix in map(str, nlp.Defaults.infixes or ())
    ]
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    numbers = [f"{tens}{ones}" for tens, ones in product(range(10), range(10))]
    for word in [*_ABBREVIATIONS, *(f"{quote}{n}{s}" for quote in "'’" for n in numbers for s in ("", "s"))]:
        tokenizer.add_special_case(word, [{ORTH: word}])
    for contraction in _CONTRACTIONS:
        for form in (contraction, contraction.replace("'", "’")):
            parts = form.split("|")
            tokenizer.add_special_case("".join(parts), [{ORTH: part} for part in parts])
    return tokenizer


def create_treebank_tokenizer() -> Callable[[Language], TreebankTokenizer]:
    """Return a function that creates a `TreebankTokenizer` with the punctuation of the pipeline's language.

    It has none of the exceptions that spaCy knows for the language: it learns them from the treebank in training.
    """

    def create(nlp: Language) -> TreebankTokenizer:
        rules = nlp.Defaults
        return TreebankTokenizer(
            nlp.vocab,
            prefix_search=compile_prefix_regex(rules.prefixes or ()).search,
            suffix_search=compile_suffix_regex(rules.suffixes or ()).search,
            infix_finditer=compile_infix_regex(rules.infixes or ()).finditer,
            url_match=rules.url_match,
        )

    return create


class TreebankTokenizer(Tokenizer):
    """spaCy's tokenizer, with abbreviations and clitics of a treebank. It is stored as any other."""

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None, clitics: Sequence[str] = ()
    ) -> None:
        """Learn from gold words. Raises ConfigError for clitics that are no words.

        clitics: words that are written at the end of another one, such as "nya" in Indonesian. A word with such an end
        stays whole if the treebank has it as one word more often than as two. Of other words, a clitic that the
        treebank often has as a word is always cut off; one that is rare, such as "ku", only from words of the treebank.
        """
        if not all(isinstance(one, str) and one.isalpha() for one in clitics):
            raise ConfigError(f"clitics is {clitics!r}: name words that end others, such as nya")
        counts, pairs = Counter[str](), Counter[str]()
        for example in get_examples():
            words = [token.text for token in example.reference]
            counts.update(words)
            pairs.update(f"{word}{end}".lower() for word, end in pairwise(words) if end in clitics)
        whole = {one for one in counts if one.endswith(".") and any(map(str.isalpha, one))}
        lower = Counter[str]()
        for word, count in counts.items():
            lower[word.lower()] += count
        suffixes = [str(suffix) for suffix in (nlp.Defaults.suffixes or () if nlp else ())]
        ends = [one for one in suffixes if not any(re.search(f"(?:{one})$", f"xx-{clitic}") for clitic in clitics)]
        rare = list[str]()
        for clitic in clitics:
            longer = [one for one in lower if one.endswith(clitic) and len(one) > len(clitic)]
            kept = [one for one in longer if lower[one] > pairs[one]]
            whole |= {form for one in kept for form in (one, one.capitalize(), one.upper())}
            if 4 * lower[clitic] >= sum(lower[one] for one in kept):
                ends.append(rf"(?<=[^\W\d_]{{2}}){clitic}")
            else:
                rare.append(clitic)
        if rare:  # in one expression, since it is compiled whenever a pipeline is loaded
            one_of, behind = f"(?:{'|'.join(rare)})", _after(one for one in lower if one.isalpha() and len(one) > 2)
            ends.append(rf"(?={one_of}$){behind}{one_of}")
        self.suffix_search = re.compile("|".join(f"(?:{end})$" for end in ends)).search
        for word in sorted(whole):
            self.add_special_case(word, [{ORTH: word}])


def _after(words: Iterable[str]) -> str:
    """Return a regular expression that matches behind one of these words."""
    by_length = defaultdict[int, list[str]](list)
    for word in sorted(words):
        by_length[len(word)].append(word)
    found = (rf"(?<=\b\w{{{length}}})(?<=(?i:{'|'.join(group)}))" for length, group in sorted(by_length.items()))
    return f"(?:{'|'.join(found)})"
