"""Compile the Cython modules; all other metadata is in pyproject.toml."""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.glob import glob

CHECKED = os.environ.get("INCPARSE_CHECKED") == "1"  # a bounds-checked build, for hunting bugs
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
    "freethreading_compatible": False,
}

EXTENSIONS = [
    Extension(path[: -len(".pyx")].replace("/", "."), [path], language="c++", extra_compile_args=["-O3", "-std=c++17"])
    for path in sorted(glob("spacy_incparse/**/*.pyx", recursive=True))
]

setup(ext_modules=cythonize(EXTENSIONS, compiler_directives=DIRECTIVES, annotate=False))
