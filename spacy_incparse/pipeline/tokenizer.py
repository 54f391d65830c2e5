"""The tokenizer of the English pipelines."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from spacy.language import Language
from spacy.symbols import ORTH
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, registry

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
