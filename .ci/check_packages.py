"""Check a source distribution and a wheel, and the wheel as installed for this interpreter.

usage: python check_packages.py SDIST WHEEL, from a folder without the sources, in an environment with the wheel in it
"""

from __future__ import annotations

import email
import importlib
import re
import socket
import sys
import tarfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

RUNTIME_REQUIREMENTS = {"spacy", "numpy", "srsly", "typer"}
COMPILED = (".so", ".pyd")
SHARED = "spacy_incparse/_cyutility."  # Cython's code that all compiled modules share; see setup.py
SHIPPED = (".py", ".pxd", ".pyi", ".json", ".css", ".js")
MAX_WHEEL_BYTES = 60 * 10**6
OF_EXTRAS = ("torch", "uvicorn", "starlette")  # modules that import them are imported only with the extra
MAX_MODEL_BYTES = {
    "en": 12 * 10**6,
    "en_accurate": 16 * 10**6,
    "en_generative": 4 * 10**6,
    "en_neural": 27 * 10**6,
}


def main(sdist: str, wheel: str) -> None:
    """Run all checks and stop at the first failure."""
    sources = sdist_sources(sdist)
    check_size(wheel)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        check_files(sources, names)
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        check_metadata(email.message_from_bytes(archive.read(metadata)), names)
        check_models({info.filename: info.file_size for info in archive.infolist()})
    check_installed(names)
    check_offline_parse()
    print(f"{PurePosixPath(wheel).name}: {len(names)} files, all checks passed")


def expect(condition: object, what: str) -> None:
    """Exit with an error unless the condition is true."""
    if not condition:
        sys.exit(f"Error: {what}")


def sdist_sources(path: str) -> set[str]:
    """Return the files of a source distribution, which must contain everything to build and test the package."""
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    needed = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "CHANGELOG.md", "project.yml", "tests/conftest.py")
    for name in needed:
        expect(name in names, f"{name} is missing from the source distribution")
    generated = sorted(name for name in names if name.endswith((".cpp", ".c", *COMPILED, ".pyc")))
    expect(not generated, f"generated files are in the source distribution: {generated}")
    return names


def check_size(wheel: str) -> None:
    """Check that the wheel is not too large to be downloaded by the way."""
    size = Path(wheel).stat().st_size
    expect(size <= MAX_WHEEL_BYTES, f"{Path(wheel).name} takes {size:,} bytes, more than {MAX_WHEEL_BYTES:,}")


def check_files(sources: set[str], names: list[str]) -> None:
    """Check that the wheel has all modules, contracts and data of the package, but not Cython's sources."""
    for name in names:
        is_made = name.endswith((".pyx", ".cpp", ".c", ".html", ".pyc")) and "/page/" not in name
        expect(not is_made, f"{name} must not be in the wheel")
    for name in sorted(sources):
        if name.startswith("spacy_incparse/") and (name.endswith(SHIPPED) or "/data/" in name):
            expect(name in names, f"{name} is missing from the wheel")
        if name.endswith(".pyx"):
            stem = name.removesuffix("pyx")
            expect(is_compiled(stem, names), f"{name} has not been compiled")
    expect(is_compiled(SHARED, names), "the module with the code that compiled modules share is missing from the wheel")
    expect("spacy_incparse/py.typed" in names, "py.typed is missing from the wheel")


def is_compiled(stem: str, names: list[str]) -> bool:
    """Return whether a wheel has the compiled module whose file begins like this."""
    return any(name.startswith(stem) and name.endswith(COMPILED) for name in names)


def check_metadata(metadata: email.message.Message, names: list[str]) -> None:
    """Check the licences of code and model, and the run-time requirements."""
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    found = {re.split(r"[^\w-]", line)[0].lower() for line in required}
    expect(found == RUNTIME_REQUIREMENTS, f"the run-time requirements are {sorted(found)}")
    expect(metadata["Requires-Python"] == ">=3.10", f"Requires-Python is {metadata['Requires-Python']}")
    licences = metadata.get_all("License-File", [])
    expect(len(licences) == 2, f"the licence files are {licences}")
    for licence in licences:
        expect(any(name.endswith(f"licenses/{licence}") for name in names), f"{licence} is missing from the wheel")


def check_models(sizes: dict[str, int]) -> None:
    """Check that the configs of neural parsers and the embedded pipelines exist; these are small, with a model card."""
    for name in ("neural.cfg", "neural_transformer.cfg"):
        expect(f"spacy_incparse/configs/{name}" in sizes, f"the config {name} is missing")
    for pipeline, most in MAX_MODEL_BYTES.items():
        folder = f"spacy_incparse/data/{pipeline}/"
        model = {name: size for name, size in sizes.items() if name.startswith(folder)}
        for name in ("config.cfg", "meta.json", "README.md"):
            expect(f"{folder}{name}" in model, f"the embedded pipeline {pipeline} lacks {name}")
        total = sum(model.values())
        expect(total <= most, f"the embedded pipeline {pipeline} takes {total:,} bytes, more than {most:,}")


def check_installed(names: list[str]) -> None:
    """Check that every module can be imported from where it was installed, and that every entry point loads."""
    for name in names:
        module = re.sub(r"(/__init__)?\.(py|[^/]*so|[^/]*pyd)$", "", name).replace("/", ".")
        if name.endswith((".py", *COMPILED)) and not module.endswith("__main__"):
            try:
                loaded = importlib.import_module(module)
            except ModuleNotFoundError as error:
                expect(error.name in OF_EXTRAS, f"{module} needs {error.name}")
                continue
            place = Path(loaded.__file__ or "")
            expect("site-packages" in place.parts, f"{module} was imported from {place}")
    ours = distribution("spacy-incparse").entry_points
    groups = {point.group for point in ours}
    for group in ("console_scripts", "spacy_factories", "spacy_readers", "spacy_scorers", "spacy_cli"):
        expect(group in groups, f"there is no entry point in the group {group}")
    for point in ours:
        point.load()


def check_offline_parse() -> None:
    """Check that the embedded pipelines and a custom pipeline parse without a network."""
    import spacy

    import spacy_incparse

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network here")

    socket.socket.connect = refuse  # type: ignore[method-assign, assignment]
    text = "Anna opened the window. It rained."
    own = spacy.blank("en")
    own.add_pipe("sentencizer")
    own.add_pipe("incparse", config={"model": "en"})
    generative = spacy_incparse.load("en_generative")
    for nlp in (own, *map(spacy_incparse.load, MAX_MODEL_BYTES)):
        trees = nlp(text)._.trees
        expect(len(trees) == 2, f"{text!r} gave {len(trees)} trees instead of 2")
    expect(generative(text)[1]._.incparse.surprisal > 0, "the generative pipeline gives no surprisal")


if __name__ == "__main__":
    main(*sys.argv[1:])
