"""Compile the Cython modules; all other metadata is in pyproject.toml."""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.glob import glob

CHECKED = os.environ.get("INCPARSE_CHECKED") == "1"  # a build that checks all bounds, for hunting bugs
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
}
COMPILER_ARGS = ["/O2", "/std:c++17"] if os.name == "nt" else ["-O3", "-std=c++17", "-g" if CHECKED else "-g0"]

EXTENSIONS = [
    Extension(
        path[: -len(".pyx")].replace(os.sep, "."),
        [path],
        language="c++",
        extra_compile_args=COMPILER_ARGS,
        define_macros=[("_GLIBCXX_ASSERTIONS", "1")] if CHECKED else [],
    )
    for path in sorted(glob("spacy_incparse/**/*.pyx", recursive=True))
]


class BuildExt(build_ext):
    """Leaves the compiled modules beside their sources too: Python that runs in the checkout imports from there."""

    def run(self):
        """Compile, then copy."""
        super().run()
        if not self.inplace:
            self.copy_extensions_to_source()


setup(
    cmdclass={"build_ext": BuildExt},
    ext_modules=cythonize(EXTENSIONS, compiler_directives=DIRECTIVES, force=CHECKED),
    options={"build_ext": {"parallel": os.cpu_count(), "force": CHECKED}},
)
