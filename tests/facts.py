"""Tables of facts (FACTS.md beside the tests): each row names tests that have to exist."""

from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]


def unheld(directory: pathlib.Path) -> list[str]:
    """What a directory's table names that is no test; a row that names none stands there whole.

    A name is `module::function`, `module`, or `::function` for the module before it; the module
    lies in the directory or below it (`folder/module`), or is a path from the repository's root.
    """
    found: list[str] = []
    module: pathlib.Path | None = None
    lines = (directory / "FACTS.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    if not rows:
        return ["no row at all"]
    for row in rows:
        references = re.findall(r"`((?:tests/|(?:\w+/)*test_|::)[^`]+)`", row)
        if not references:
            found.append(row)
        for reference in references:
            name, _, function = reference.partition("::")
            if name:
                module = ROOT / name if name.startswith("tests/") else directory / f"{name}.py"
            if module is None or not module.is_file() or not _holds(module, function):
                found.append(reference)
    return found


def _holds(module: pathlib.Path, function: str) -> bool:
    text = module.read_text()
    if not function:  # a module of tests, or an invariant that every simulated seed is held to
        return re.search(r"def test_|^class \w+\(Invariant\)", text, re.MULTILINE) is not None
    ending = r"\w+" if function.endswith("*") else r"\b"
    return re.search(rf"def {re.escape(function.removesuffix('*'))}{ending}", text) is not None
