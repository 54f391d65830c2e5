from html.parser import HTMLParser
from xml.etree import ElementTree

from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</svg></style></title></textarea><img src=x onerror=alert(1)>",
    "\"><img src=x onerror='alert(1)'>",
    "' onmouseover='alert(1)",
    "` onload=alert(1) `",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "&lt;b&gt; &amp;quot; &#60;script&#62;",
    "javascript:alert(1)",
    "url(https://example.org/x.png)",
    "}</style><style>*{display:none}",
    "\x00\x01\x08\x0b\x1b[2J\x7f\x85\ufffe\uffff\ud800",
    "\u2028\u2029\u202e",
    "${alert(1)} \\u003cscript\\u003e",
)


def hostile_tree(text: str) -> Tree:
    """Return a tree in which labels, tags and words are all the same text."""
    words = [make_tree(text, text), make_tree("NP", [make_tree(text, f"{text} b"), make_tree("NN", "c")])]
    return make_tree(text, [make_tree(text, words), make_tree(".", ".")])


def harmless_tree() -> Tree:
    """Return one of the same shape."""
    return hostile_tree("x")


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found: set[tuple[str, str | None]] = set()
        self.other: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found |= {(tag, None), *((tag, name) for name, _ in attrs)}

    def handle_comment(self, data):
        self.other.append(data)

    unknown_decl = handle_pi = handle_comment


def elements(html: str) -> set[tuple[str, str | None]]:
    """Return the kinds of elements, and each with the attributes that it has; comments and the like are an error."""
    parser = _Elements()
    parser.feed(html)
    parser.close()
    assert not parser.other
    return parser.found


def texts(svg: str) -> list[str]:
    """Return the texts of a well-formed SVG document."""
    root = ElementTree.fromstring(svg)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
