"""No modules import each other, not even for annotations: each can be read after those it uses."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.architecture.imports import circles, import_graph

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = (
    "dataplane",
    "controlplane",
    "console",
    "spark_analytics",
    "zookeeper_access",
    "deploy",
)


def sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *(f"{package}/**.py" for package in PACKAGES)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for line in listed.stdout.splitlines() if (path := REPOSITORY / line).is_file()]


def test_no_modules_import_each_other() -> None:
    graph = import_graph(sources(), REPOSITORY)
    assert len(graph) > 300
    assert [" → ".join(way) for way in circles(graph).values()] == []


def graph_of(tmp_path: Path, **modules: str) -> dict[frozenset[str], list[str]]:
    for name, text in modules.items():
        path = tmp_path / "p" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return circles(import_graph(sorted(tmp_path.rglob("*.py")), tmp_path))


def test_an_import_for_annotations_closes_a_circle(tmp_path: Path) -> None:
    found = graph_of(
        tmp_path,
        a="from p.b import B",
        b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import a",
        c="import p.a\nimport os",
    )
    assert found == {frozenset({"p.a", "p.b"}): ["p.a", "p.b", "p.a"]}


def test_an_import_inside_a_function_closes_a_circle(tmp_path: Path) -> None:
    found = graph_of(tmp_path, a="def f():\n    import p.b", b="from .a import f")
    assert list(found.values()) == [["p.a", "p.b", "p.a"]]


def test_circles_of_more_than_two_are_named_by_their_shortest_way_round(tmp_path: Path) -> None:
    found = graph_of(
        tmp_path,
        a="import p.b",
        b="import p.c, p.d",
        c="import p.a",
        d="import p.b",
        e="import p.a",
    )
    assert found == {frozenset({"p.a", "p.b", "p.c", "p.d"}): ["p.b", "p.d", "p.b"]}


def test_a_tree_has_none(tmp_path: Path) -> None:
    assert not graph_of(tmp_path, a="import p.b, p.c", b="import p.c", c="import os")
