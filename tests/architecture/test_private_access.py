"""Tests look at objects from outside.

Ruff's SLF001 sees `thing._name`; this sees the same by name: `setattr(thing, "_name", …)`.
"""

from __future__ import annotations

import ast

import pytest

from tests.architecture.test_tidy import REPOSITORY, short, tracked

BY_NAME = {"getattr", "setattr", "delattr", "hasattr", "object", "alter", "attrgetter"}
# To break a broker on purpose is to reach into it: the bug is put where a bug would be.
BREAKS_ON_PURPOSE = {
    REPOSITORY / "tests/simulation/test_broken_brokers.py",
    REPOSITORY / "tests/simulation/test_broken_coordinators.py",
}


def private_names(source: str) -> list[str]:
    """Names with one underscore that calls in `source` reach by their text."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        texts = [
            each.value.rpartition(".")[2]
            for each in node.args
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        if called in BY_NAME:
            found += [text for text in texts if text.startswith("_") and text[1:2] != "_"]
    return found


@pytest.mark.parametrize("path", tracked("tests/**/*.py", "tests/*.py"), ids=short)
def test_nobody_reaches_for_private_names_by_their_text(path):
    if path in BREAKS_ON_PURPOSE:
        assert private_names(path.read_text()), "no exception is needed any more"
    else:
        assert private_names(path.read_text()) == []


@pytest.mark.parametrize(
    "call",
    [
        'monkeypatch.setattr(thing, "_inner", 1)',
        'monkeypatch.setattr("package.thing._inner", 1)',
        'patch.object(thing, "_inner")',
        'getattr(thing, "_inner", None)',
    ],
)
def test_what_is_refused(call):
    assert private_names(call) == ["_inner"]
    assert private_names(call.replace("_inner", "inner")) == []
    assert private_names(call.replace("_inner", "__init__")) == []
