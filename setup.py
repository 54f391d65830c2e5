"""Compile the Cython modules; all other metadata is in pyproject.toml."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock

import Cython
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.glob import glob
from setuptools.modified import newer_group

CHECKED = os.environ.get("INCPARSE_CHECKED") == "1"  # a build that checks all bounds, for debugging
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "initializedcheck": CHECKED,
    "cdivision": True,
    # This generated code is a fifth of the total and never called: classes that can be pickled define how themselves.
    "auto_pickle": False,
    "binding": False,
    "emit_code_comments": CHECKED,  # copies of the source lines: another seventh
}
# Modules in which parsing spends its time: full optimization is worth the time to compile.
HOT = (
    "chart/feature_groups", "chart/forest_builder",
    "chart/recurrences", "chart/pruner_scorer", "neural/bracket_chart",
    "generative/generative_scorer", "generative/hybrid_scorer", "incremental/beam",
    "incremental/scorer", "tagging/engine", "tagging/tag_decoder",
)  # fmt: skip
# Modules that run once per model, word or tree, or wait for memory: light optimization is enough, and compiles faster.
LIGHT = (
    "incremental/moves", "incremental/sentence", "linear/extraction", "generative/walk",
    "papers/collins_2000/learning", "rerank/sparse_rows",
    "treebanks/bracket_scanner",
)  # fmt: skip
# The support code that Cython would repeat in each module with memoryviews, 0.2 MB of C++, is a module of its own.
SHARED = "spacy_incparse._cyutility"
TRANSLATING = Lock()  # Cython's compiler is not thread-safe; the C++ compilers of other modules keep running meanwhile


def compiler_arguments(name: str, compiler_type: str) -> list[str]:
    """Return the arguments for a module, given distutils' name of the compiler: "msvc", or "unix" (GCC and Clang)."""
    module = name.removeprefix("spacy_incparse.").replace(".", "/")
    level = 1 if module in LIGHT else 3 if module in HOT else 2
    if compiler_type == "msvc":
        return [*([] if name == SHARED else ["/std:c++17"]), "/EHsc", "/utf-8", "/O1" if level == 1 else "/O2"]
    # Fused multiplications round differently and only some processors have them, but probabilities must not differ.
    # The code is generated, so warnings of GCC and Clang about it are Cython's concern (-w turns them off).
    standard = [] if name == SHARED else ["-std=c++17"]  # the shared module is in C, all others are in C++
    return [*standard, "-ffp-contract=off", "-w", "-g" if CHECKED else "-g0", f"-O{level}"]


def generated_path(ext: Extension) -> str:
    """Return the path of the file that Cython writes for a module."""
    return ext.name.replace(".", os.sep) + (".cpp" if ext.sources else ".c")


def tell(text: str) -> None:
    """Print a line on the terminal, if there is one: pip shows what a build prints only if it fails, or with -v."""
    try:
        with open("CON" if os.name == "nt" else "/dev/tty", "w", encoding="utf8") as terminal:
            terminal.write(f"spacy-incparse: {text}\n")
    except OSError:
        print(f"spacy-incparse: {text}", flush=True)


class BuildExt(build_ext):
    """Compile what changed. The modules also lie next to their sources, for Python in a checkout and the next build."""

    def run(self):
        """Say how much is to be compiled, then do it."""
        dependencies = create_dependency_tree(quiet=True)
        self.old = {ext.name for ext in self.extensions if self.force or self.is_old(ext, dependencies)}
        self.n_done, n, n_cores = 0, len(self.old), os.cpu_count() or 1
        if n:
            tell(f"{n} modules to compile: about {n * 4 // n_cores + 2} s on {n_cores} cores")
        super().run()

    def is_old(self, ext, dependencies) -> bool:
        """Return whether a module lacks something: the file, a later change, or the code of this Cython's version.

        Cython's own headers do not count, though they are dependencies: pip installs them anew for each build.
        """
        with suppress(FileNotFoundError), open(generated_path(ext), encoding="utf8") as file:
            if f"Cython {Cython.__version__} " in file.readline():
                sources = dependencies.all_dependencies(ext.sources[0]) if ext.sources else ()
                return newer_group([x for x in sources if not os.path.isabs(x)], self.get_ext_filename(ext.name))
        return True

    def build_extension(self, ext):
        """Compile one module, or take what an earlier build has left. Several threads do this at a time."""
        built, wanted = self.get_ext_filename(ext.name), self.get_ext_fullpath(ext.name)
        compiled = ext.name in self.old and self.compile(ext, built)
        self.mkpath(os.path.dirname(wanted))
        self.copy_file(*((wanted, built) if compiled else (built, wanted)))
        if ext.name in self.old:
            with TRANSLATING:
                self.n_done += 1
                tell(f"[{self.n_done}/{len(self.old)}] {ext.name}")

    def compile(self, ext, built: str) -> bool:
        """Translate a module, and compile it unless its translation is what `built` was compiled from."""
        generated, before = Path(generated_path(ext)), None
        if not self.force and generated.exists() and not newer_group([generated], built):
            before = generated.read_bytes()
        with TRANSLATING:
            (translated,) = cythonize(
                [ext],
                compiler_directives=DIRECTIVES,
                force=True,
                quiet=True,
                shared_utility_qualified_name=SHARED,
            )
        if before == generated.read_bytes():  # a change of a header that this module makes no use of
            os.utime(built)
            return False
        ext.sources, ext.depends = translated.sources, translated.depends
        ext.extra_compile_args = compiler_arguments(ext.name, self.compiler.compiler_type)
        super().build_extension(ext)
        return True


class BuildPy(build_py):
    """Gives a wheel the configs that `train --config neural` reads; in a checkout, they are read where they are."""

    def run(self):
        """Copy the modules, then the configs."""
        super().run()
        if not self.editable_mode:
            folder = os.path.join(self.build_lib, "spacy_incparse", "configs")
            self.mkpath(folder)
            for path in ("configs/neural.cfg", "configs/neural_transformer.cfg"):
                self.copy_file(path, folder)


setup(
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
    ext_modules=[
        Extension(SHARED, []),  # Cython writes it, in C
        *(
            Extension(
                path[: -len(".pyx")].replace(os.sep, "."),
                [path],
                language="c++",
                define_macros=[("_GLIBCXX_ASSERTIONS", "1")] if CHECKED else [],
            )
            for path in sorted(glob("spacy_incparse/**/*.pyx", recursive=True))
        ),
    ],
    options={"build_ext": {"parallel": os.cpu_count(), "force": CHECKED}},
)
