"""No package imports, through others or straight, itself: lazy imports and those for type checking count, too.

Within a package, files may form circles for type checking: they are one subject.
"""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "spacy_incparse"
_CYTHON_IMPORT = re.compile(r"^\s*from\s+([\w.]+)\s+c?import\s+(\([^)]*\)|.+)|^\s*c?import\s+([\w.]+)", re.MULTILINE)


def modules():
    """Name of each module -> its files; a compiled module has several."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py*")):
        if path.suffix in (".py", ".pyx", ".pxd", ".pyi"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.setdefault(name, []).append(path)
    return found


def named_imports(path):
    """Yield each module that a file imports, with the names that it takes from it."""
    text = path.read_text(encoding="utf8")
    if path.suffix in (".pyx", ".pxd"):
        for source, names, module in _CYTHON_IMPORT.findall(text):
            yield source or module, re.findall(r"\w+", names.partition("#")[0])
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [alias.name for alias in node.names]


def import_graph(files):
    """Module -> the modules of the package that it imports."""
    graph = {}
    for module, paths in files.items():
        imported = set()
        for path in paths:
            for source, names in named_imports(path):
                submodules = {f"{source}.{name}" for name in names} & files.keys()
                takes_more = len(submodules) < len(names) or not names
                imported |= submodules | ({source} & files.keys() if takes_more else set())
        graph[module] = imported - {module}
    return graph


def circles(graph):
    """The sets of modules that reach each other."""
    reached = {}
    for module in graph:
        found, pending = set(), [module]
        while pending:
            new = graph[pending.pop()] - found
            found |= new
            pending += new
        reached[module] = found
    return {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in graph
        if module in reached[module]
    }


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {frozenset("bc")}


def test_imports_of_all_kinds_are_read(tmp_path):
    (tmp_path / "a.py").write_text(
        "if TYPE_CHECKING:\n    import x.y\ndef f():\n    from x import (\n        z,\n    )\n"
    )
    (tmp_path / "b.pyx").write_text("from x.y cimport A, B\nfrom libc.math cimport exp\ncimport x.z\nimport q\n")
    assert list(named_imports(tmp_path / "a.py")) == [("x.y", []), ("x", ["z"])]
    assert [name for name, _ in named_imports(tmp_path / "b.pyx")] == ["x.y", "libc.math", "x.z", "q"]


def package_graph(graph):
    """Package (or module of the top) -> those that it imports; a tree draws and transforms itself."""
    found = {}
    for module, imported in graph.items():
        here = module.split(".")[1:2]
        if here and module not in ("spacy_incparse.trees.tree", "spacy_incparse.__main__"):
            others = {name.split(".")[1] for name in imported if "." in name}
            found.setdefault(here[0], set()).update(others - {here[0]})
    return {package: others & found.keys() for package, others in found.items()}


def test_no_package_imports_itself_through_others():
    found = circles(package_graph(import_graph(modules())))
    assert [sorted(circle) for circle in found] == []
