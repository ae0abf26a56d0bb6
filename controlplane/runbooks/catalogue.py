"""The runbooks of `deploy/runbooks`, read once: all are right, or the service says which not.

A file may name only checks and kinds of operations that there are, with inputs that those take.
"""

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path

from django.conf import settings

from controlplane.common.problems import NotFound
from controlplane.operations.operations import kind_of
from controlplane.runbooks.checks import CHECKS
from controlplane.runbooks.document import Block, Runbook, RunbookError, parse

CONTEXT = ("cluster", "group", "topic", "broker", "operation", "user", "alert")
"""What a run may be about; a check is filled in with these alone."""
FILES_MAX = 200
INDEX = "README.md"


@functools.cache
def catalogue() -> Mapping[str, Runbook]:
    """By id.

    Raises:
        RunbookError: a file is not in the form, or names what there is not.
    """
    return load(Path(settings.RUNBOOKS_DIR))


def runbook(name: str) -> Runbook:
    """Raises NotFound."""
    found = catalogue().get(name)
    if found is None:
        raise NotFound("Runbook not found.")
    return found


def load(directory: Path) -> dict[str, Runbook]:
    """Every runbook of a directory, checked. Raises as `catalogue`."""
    files = sorted(path for path in directory.glob("*.md") if path.name != INDEX)
    if not 0 < len(files) <= FILES_MAX:
        raise RunbookError(str(directory), 0, f"holds {len(files)} runbooks, not 1 to {FILES_MAX}")
    found = {path.stem: parse(path.read_text(encoding="utf-8"), path.name) for path in files}
    for each in found.values():
        for block in each.blocks:
            _check_act(each, block) if block.is_act else _check_check(each, block)
        _check_links(each, found)
    return found


def _check_check(of: Runbook, block: Block) -> None:
    check = CHECKS.get(block.name)
    if check is None:
        raise _error(of, block, f"there is no check {block.name}; there are: {_list(CHECKS)}")
    known = {*check.needs, *check.may}
    if strange := sorted(set(block.values) - known):
        raise _error(of, block, f"{block.name} does not take {_list(strange)}")
    if missing := sorted(set(check.needs) - set(block.values)):
        raise _error(of, block, f"{block.name} needs {_list(missing)}")
    if strange := sorted(set(block.blanks) - set(CONTEXT)):
        raise _error(of, block, f"a check is filled in by {_list(CONTEXT)}, not {_list(strange)}")


def _check_act(of: Runbook, block: Block) -> None:
    kind = kind_of(block.name)
    if kind is None:
        raise _error(of, block, f"there is no kind of operation {block.name}")
    fields = kind.inputs().fields
    given = set(block.values) - {"cluster"}
    if kind.on_cluster != ("cluster" in block.values):
        raise _error(of, block, f"{block.name} takes {'a' if kind.on_cluster else 'no'} cluster")
    if strange := sorted(given - set(fields)):
        raise _error(of, block, f"{block.name} does not take {_list(strange)}")
    missing = sorted(name for name, each in fields.items() if each.required and name not in given)
    if missing:
        raise _error(of, block, f"{block.name} needs {_list(missing)}")
    if secret := sorted(given & set(kind.secret_inputs)):
        raise _error(of, block, f"{_list(secret)} is a secret and is in no runbook")


def _check_links(of: Runbook, found: Mapping[str, Runbook]) -> None:
    for link in of.links:
        path, _, section = link.partition("#")
        if "/" in path or not path.endswith(".md"):
            continue  # out of the directory: the tests of `deploy` see to those
        other = found.get(path.removesuffix(".md"))
        if other is None or (section and section not in other.anchors):
            raise RunbookError(f"{of.id}.md", 1, f"leads to {link}, which is not there")


def _error(of: Runbook, block: Block, text: str) -> RunbookError:
    return RunbookError(f"{of.id}.md", block.line, text)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
