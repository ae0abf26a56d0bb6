"""A README that lists a package's files lists all of them, and none that is gone."""

from __future__ import annotations

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = re.compile(r"`([\w./*-]+)`")
FILE = re.compile(r".+\.(py|sh|md)")


def names_of(readme: Path) -> list[str]:
    """What stands between single backticks and could be a file or a module."""
    return NAME.findall(readme.read_text())


def unnamed(readme: Path) -> list[str]:
    """Modules beside a README that it leaves out, though it names others of them as `module.py`.

    A module is named by its file, its bare name, or a pattern (`group_*.py`). `__init__` and
    `__main__` are the package itself. A README may also name none of them and describe the
    package as a whole.
    """
    modules = {path.name for path in readme.parent.glob("*.py")} - {"__init__.py", "__main__.py"}
    names = names_of(readme)
    if not any(fnmatch.filter(modules, name) for name in names if name.endswith(".py")):
        return []
    named = {
        each for name in names for each in fnmatch.filter(modules, name.removesuffix(".py") + ".py")
    }
    return sorted(modules - named)


def gone(readme: Path, root: Path) -> list[str]:
    """Files that a README names and that are not there: seen from it, or from a folder above."""
    above = [folder for folder in readme.parents if folder.is_relative_to(root)]
    return [
        name
        for name in names_of(readme)
        if FILE.fullmatch(name)
        and not any(found for folder in above for found in folder.glob(name))
    ]


def readmes() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--", "README.md", "**/README.md"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()


@pytest.mark.parametrize("readme", readmes())
def test_a_readme_follows_the_code(readme: str) -> None:
    path = REPOSITORY / readme
    assert (unnamed(path), gone(path, REPOSITORY)) == ([], [])


@pytest.mark.parametrize(
    ("text", "left_out", "missing"),
    [
        ("| `one.py` | a |\n| `group_a.py`, `group_b.py` | b |", [], []),
        ("| `one.py`, `group_*.py` | all |", [], []),
        ("`one.py`, then `group_a` and `group_b`", [], []),
        ("| `one.py` | a |", ["group_a.py", "group_b.py"], []),
        ("| `group_*.py` | b |", ["one.py"], []),
        ("of the package as a whole, see `rest/two.py` and `../side/three.py`", [], []),
        ("`side/three.py`, `../README.md`, `python -m one.py`", [], []),
        ("`two.py`, `three.py`", [], ["two.py", "three.py"]),
        ("`one.py`, `group_*.py`, `other_*.py`", [], ["other_*.py"]),
        ("`rest/four.py`, `run.sh`, `Kafka.md`", [], ["rest/four.py", "run.sh", "Kafka.md"]),
    ],
)
def test_what_a_readme_has_wrong_is_named(
    tmp_path: Path, text: str, left_out: list[str], missing: list[str]
) -> None:
    for name in (
        "README.md",
        "package/__init__.py",
        "package/one.py",
        "package/group_a.py",
        "package/group_b.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name in ("package/rest/two.py", "side/three.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    readme = tmp_path / "package" / "README.md"
    readme.write_text(text + "\n")
    assert unnamed(readme) == left_out
    assert gone(readme, tmp_path) == missing
