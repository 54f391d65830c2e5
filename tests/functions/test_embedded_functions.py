import spacy_incparse


def test_the_embedded_weights_find_passives_relatives_and_control():
    nlp = spacy_incparse.load("en", functions=True)
    (tree,) = nlp("The bell was rung by a farmer.")._.trees
    assert {node.text: node.functions for node in tree.phrases("NP") if node.functions} == {
        "The bell": ("SBJ",), "a farmer": ("LGS",),
    }  # fmt: skip
    assert [(one.type, one.overt.text) for one in tree.empties] == [("*", "The bell")]
    (tree,) = nlp("She wants to ring the bell that he bought.")._.trees
    assert [(one.type, one.overt.text) for one in tree.empties] == [("*", "She"), ("*T*", "that")]
