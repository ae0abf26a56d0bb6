"""The graph of imports between modules, those for annotations and inside functions included."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path

Graph = dict[str, set[str]]


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph(paths: Iterable[Path], root: Path) -> Graph:
    """Which of these modules each of them imports, wherever the statement stands."""
    files = {module_name(path, root): path for path in paths}
    return {name: _imported(name, path, files) - {name} for name, path in files.items()}


def _imported(name: str, path: Path, files: Mapping[str, Path]) -> set[str]:
    found: set[str] = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *filter(None, [node.module])]) if node.level else node.module
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in files else base or "")
    return found & files.keys()


def circles(graph: Graph) -> dict[frozenset[str], list[str]]:
    """Every set of modules that import each other, with a shortest way round in it."""
    reached = {name: _reachable(graph, name) for name in graph}
    found: dict[frozenset[str], list[str]] = {}
    for name in sorted(graph):
        if name in reached[name]:
            members = frozenset(other for other in reached[name] if name in reached[other])
            way = _way_round(graph, name)
            if members not in found or len(way) < len(found[members]):
                found[members] = way
    return found


def _reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for following in graph[waiting.pop()] - seen:
            seen.add(following)
            waiting.append(following)
    return seen


def _way_round(graph: Graph, start: str) -> list[str]:
    ways = deque([[start]])
    seen: set[str] = set()
    while ways:
        way = ways.popleft()
        for following in sorted(graph[way[-1]]):
            if following == start:
                return [*way, start]
            if following not in seen:
                seen.add(following)
                ways.append([*way, following])
    raise ValueError(f"{start} is in no circle")
