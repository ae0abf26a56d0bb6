"""Every test can fail by what it says: it asserts, or calls a helper of the tests that does."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

from tests.architecture.test_tidy import REPOSITORY, short, tracked

# What fails without an `assert` beside it: pytest's own, a browser's, a deadline, and the account
# of a trial, in which every record must be found.
CHECKS = {
    "pytest.raises",
    "pytest.warns",
    "pytest.fail",
    "expect",
    "asyncio.timeout",
    "asyncio.wait_for",
    "run.settle",
}
# Its last line raises BufferError when it fails.
RAISES_ITSELF = "test_the_callers_memory_is_free_after_a_commit"


class Module:
    """The functions of one file of tests, and where the names in it come from."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions = {
            node.name: node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        self.imported = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def can_fail(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the function of that name, or a helper that it calls by name, asserts."""
        function = self.functions.get(name)
        if function is None or name in seen:
            return False
        if any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(function)):
            return True
        calls = {ast.unparse(c.func) for c in ast.walk(function) if isinstance(c, ast.Call)}
        return bool(calls & CHECKS) or any(
            self.can_fail(call, seen | {name}) or self._imported_can_fail(call) for call in calls
        )

    def _imported_can_fail(self, call: str) -> bool:
        first, _, rest = call.partition(".")
        module, name = self.imported.get(first, ("", ""))
        if not module.startswith("tests"):
            return False
        if not rest:
            return module_of(module).can_fail(name)
        return module_of(f"{module}.{name}").can_fail(rest)


@functools.cache
def module_of(dotted: str) -> Module:
    path = REPOSITORY.joinpath(*dotted.split(".")).with_suffix(".py")
    return Module(ast.parse(path.read_text() if path.exists() else ""))


def harmless(module: Module) -> list[str]:
    """Tests that fail by nothing but an exception of what they call."""
    return [
        name
        for name in module.functions
        if name.startswith("test") and name != RAISES_ITSELF and not module.can_fail(name)
    ]


@pytest.mark.parametrize("path", tracked("tests/**/test_*.py"), ids=short)
def test_every_test_can_fail(path: Path) -> None:
    assert harmless(Module(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize(
    ("body", "can_fail"),
    [
        ("thing.run()", False),
        ("assert thing.run()", True),
        ("with pytest.raises(ValueError): thing.run()", True),
        ("helper()", True),
        ("outer()", True),
        ("silent()", False),
        ("problem(answer)", True),
        ("surface.problem(answer)", True),
        ("thing.problem(answer)", False),
        ("async def inner(): assert thing\n    run(inner)", True),
        ("test_it()", False),
    ],
)
def test_what_counts_as_a_check(body: str, can_fail: bool) -> None:
    source = f"""
from tests.controlplane.rest import surface
from tests.controlplane.rest.surface import problem
def helper(): assert thing
def outer(): helper()
def silent(): thing.run()
def test_it():
    {body}
"""
    assert Module(ast.parse(source)).can_fail("test_it") == can_fail
