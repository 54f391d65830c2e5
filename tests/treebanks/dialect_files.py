"""A small file of each dialect of brackets, with its odd cases, and what a right reading finds."""

from typing import NamedTuple


class Sample(NamedTuple):
    text: str
    words: list[str]  # of each tree, without empty categories
    ids: list[str | None]
    empties: int
    title: str
    encoding: str = "utf-8"


SAMPLES = {
    "penn-helsinki": Sample(
        """\
( (METADATA (AUTHOR Somebody:male) (DATE 1902)))

( (CODE <heading>))

( (META (NP (N-N Kafli-kafli))) (ID 1902.BATUR,.1))

# a comment of the annotators
( (IP-MAT (NP-SBJ (N-N bátur$-bátur) (D-N $inn-hinn))
\t  (CODE {COM:unsure})
\t  (VBDI sökk-sökkva)
\t  (NP-TMP (NS-D suður-dögum-suður-dagur) (CODE <P_3>))
\t  (CP-ADV (C 0)
\t\t  (IP-SUB=2 (NP-SBJ-1 *con*)
\t\t\t  (VBDI blés-blása) *ICH*-1))
\t  (, ,-,) (. --)
\t  (" "-")) (ID 1902.BATUR,.2))

( (IP-MAT-SPE (NP-SBJ *pro*) (BEPI er-vera) (ADJP (ADJ-N kalt-kaldur)) (. .-.)) (ID 1902.BATUR,.3))
""",
        ['bátur inn sökk suður-dögum blés , - "', "er kalt ."],
        ["1902.BATUR,.2", "1902.BATUR,.3"],
        4,
        "Penn-Helsinki",
    ),
    "penn-helsinki without lemmas": Sample(
        """\
( (IP-MAT (NP-SBJ (D The) (N well-wisher)) (VBD gif@) (NP-OB2 (PRO @it)) (NP-OB1 *T*-1) (. .)) (ID LETTER,1.1))
( (CODE <P_7>))
( (IP-IMP (VBI Come) (RP in) (, ,) (NP-VOC (N sir)) (NP ($ $) (NUM 5))) (ID LETTER,1.2))
""",
        ["The well-wisher gif it .", "Come in , sir $ 5"],
        ["LETTER,1.1", "LETTER,1.2"],
        1,
        "Penn-Helsinki",
    ),
    "keyaki": Sample(
        """\
( (IP-MAT (NP-SBJ *speaker*)
          (PP;*OB1* (NP (N 舟)) (P を))
          (NP-OB1 *を*)
          (VB 漕い) (AXD だ) (PU 。))
  (ID 1_mizuumi;JP))
( (IP-MAT (NP-LOC;{SHORE} (N 岸)) (SCON *) (-LRB- 「) (VB 見える) (-RRB- 」))
  (ID 2_mizuumi;JP))
""",
        ["舟 を 漕い だ 。", "岸 「 見える 」"],
        ["1_mizuumi;JP", "2_mizuumi;JP"],
        3,
        "Keyaki (NPCMJ)",
    ),
    "switchboard": Sample(
        """\
*x*x*x*x*x*x*x*x*x*
*x*  Copyright nobody *x*
( (CODE (SYM SpeakerA1) (. .) ))
( (S (EDITED (RM (-DFL- \\[) ) (CODE <disfluency>) (NP-SBJ-UNF (PRP I) ) (, ,) (IP (-DFL- \\+) ))
    (INTJ (UH uh) )
    (NP-SBJ (PRP we) ) (RS (-DFL- \\]) )
    (VP (VBP row) (NP (-NONE- *T*-1) ))
    (. /) (-DFL- E_S) ))
( (INTJ (UH Yeah) (SU /-)))
""",
        ["I , uh we row", "Yeah"],
        [None, None],
        1,
        "Switchboard or MASC",
    ),
    "spmrl": Sample(
        """\
( (SENT##mood=ind## (NP-SUJ (DET##lem=le|cpos=D## La) (NC##lem=barque|cpos=N|g=f## barque)) \
(VN (V##lem=couler|cpos=V## coule)) (PONCT##lem=.|cpos=PONCT## .)))
( (SENT (CLS-SUJ##lem=il|cpos=CL## Il) (V##lem=rire|cpos=V## rit) (-LRB-##lem=-LRB-## -LRB-) (P+D##lem=de## du)))
""",
        ["La barque coule .", "Il rit ( du"],
        [None, None],
        0,
        "SPMRL",
    ),
    "ctb": Sample(
        """\
<DOC>
<DOCID> LAKE_7 </DOCID>
<HEADER>
<DATE> 1998-02-03 </DATE>
</HEADER>
<BODY>
<HEADLINE>
<S ID=11>
( (NP-HLN (NR 湖) (NN 边))  )
</S>
</HEADLINE>
<TEXT>
<P>
<S ID=12>
( (IP-ADV (NP-SBJ (-NONE- *pro*))
          (VP (VV 划) (NP-OBJ (NN 船)))
          (PU 。)) )
</S>
</P>
</TEXT>
</BODY>
</DOC>
""",
        ["湖 边", "划 船 。"],
        ["11", "12"],
        1,
        "Chinese Treebank",
        "gb18030",
    ),
    "vlsp": Sample(
        """\
<s id="4">
(S (NP-SUB (N-H con_thuyền) (P *T*)) (VP (V-H trôi)) (. .))
</s>
<s>
(S (NP-SUB (P-H tôi))
   (VP (V-H *E*) (R không)))
</s>
""",
        ["con_thuyền trôi .", "tôi không"],
        ["4", None],
        2,
        "VLSP",
    ),
    "tut": Sample(
        """\
************** FRASE NOTIZIE-1 **************

 ( (S (NP-SBJ (ART~DE La) (NOU~CS barca))
      (VP (VMA~RE affonda) (NP (-NONE- *-13)))
      (PUNCT |.|)) )

**************  **************
 ( (NP (NOU~CS Fine)) )
""",
        ["La barca affonda |.|", "Fine"],
        ["NOTIZIE-1", None],
        1,
        "Turin University Treebank",
    ),
    "greynir": Sample(
        """\
( (META (ID-CORPUS 11-22.3)
        (ID-LOCAL lake_00001.psd,.1)
        (URL
  http://example.is/a)
        (COMMENT ))
  (S0 (S-MAIN )
      (IP (NP-SUBJ (person_nf_kk Ari litli (lemma Ari litli)))
          (VP (so_0 rær (lemma róa) (exp_seg rær)))
          (grm \\( (lemma \\()) (tala 3) (grm \\) (lemma \\))) (grm . (lemma .)))))

( (META (ID-CORPUS 11-22.4)
        (ID-LOCAL lake_00001.psd,.2)
        (COMMENT is this right?))
  (S0 (S-HEADING (NP (no_et_nf_kk Bátur (lemma bátur))))))
""",
        ["Ari litli rær ( 3 ) .", "Bátur"],
        ["lake_00001.psd,.1", "lake_00001.psd,.2"],
        0,
        "GreynirCorpus",
    ),
    "cess": Sample(
        """\
(
  (S
    (sn-SUJ
      (espec.fs
        (da0fs0 La el))
      (grup.nom.fs
        (ncfs000 barca barco)))
    (sn-SUJ *0*)
    (grup.verb
      (vmip3s0 flota flotar))
    (Fp . .)
  )
)
(
  (S (sn-SUJ (grup.nom (np00000 Ana_María Ana_María))) (grup.verb (vmip3s0 rema remar)) (Fp . .))
)
""",
        ["La barca flota .", "Ana_María rema ."],
        [None, None],
        1,
        "CESS",
        "latin-1",
    ),
    "starlang": Sample(
        """\
( (S (NP-SBJ (PRP {turkish=Biz}{english=We}{morphologicalAnalysis=biz+PRON}{semantics=TUR10-1}))
     (VP (DT {turkish=*NONE*}{english=the}) (NN {turkish=gölü}{english=lake}) (VBP {turkish=geçtik}{english=crossed}))
     (. {turkish=.}{english=.})) )
""",
        ["Biz gölü geçtik ."],
        [None],
        1,
        "Starlang",
    ),
    "floresta": Sample(
        """\
#1 LAGO-1
(STA+fcl (SUBJ+np (>N+art O) (H+n coração)) (P+v-fin rema) (. .))
#2 LAGO-2
(UTT+np (H+prop João_Só) (, ,) (N<PRED+np (H+n irmão)))
""",
        ["O coração rema .", "João_Só , irmão"],
        [None, None],
        0,
        "Floresta",
        "latin-1",
    ),
    "numbered": Sample(
        """\
1. (TOP (S (NP (DT The) (NN boat)) (VP (VBZ sinks))))
2.   (TOP (S (NP (PRP We))
        (VP (VBP swim))))
""",
        ["The boat sinks", "We swim"],
        ["1", "2"],
        0,
        "numbered Penn",
    ),
    "penn": Sample(
        """\
# a comment

( (S (NP-SBJ-1 (DT The) (NN boat))
     (VP (VBZ seems) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB sink)))))
     (`` ``) (. .)) )
( (NP (NN per cent)))   ( (INTJ (UH Oh)) )
""",
        ['The boat seems to sink " .', "per cent", "Oh"],
        [None, None, None],
        1,
        "Penn",
    ),
}
