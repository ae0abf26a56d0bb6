"""The rules of this code base that a machine can check, read from the source itself."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = (
    "dataplane",
    "controlplane",
    "console",
    "spark_analytics",
    "zookeeper_access",
    "deploy",
)
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
PURE_PACKAGES = (
    "model",
    "ports",
    "config",
    "wire",
    "log",
    "replication",
    "timing",
    "cluster",
    "groups",
    "transactions",
    "security",
    "quotas",
)
# What a pure package must ask for instead of calling it.
BANNED_IN_PURE_PACKAGES = {
    "time.time": "ports.clock.Clock.realtime_ms",
    "time.monotonic": "ports.clock.Clock.monotonic_ms",
    "datetime.now": "ports.clock.Clock.realtime_ms",
    "os.urandom": "ports.entropy.Entropy.token_bytes",
    "uuid.uuid4": "ports.entropy.Entropy.uuid4",
    "open": "ports.filesystem.FileSystem",
    "asyncio.sleep": "a deadline that the shell drives",
}


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [path for line in listed.stdout.splitlines() if (path := REPOSITORY / line).is_file()]
    # A check of no files passes: who moves them moves the pattern too.
    assert found, f"no files: {patterns}"
    return found


def sources() -> list[Path]:
    files = tracked(*(f"{package}/**.py" for package in PACKAGES), "manage.py")
    return [path for path in files if "migrations" not in path.parts]


def short(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def test_there_is_something_to_check() -> None:
    assert len(sources()) > 100


def test_files_hold_one_idea() -> None:
    too_long = {
        short(path): count
        for path in sources()
        if (count := len(path.read_text().splitlines())) > FILE_LINES_MAX
    }
    assert not too_long


def test_functions_fit_on_a_page() -> None:
    too_long = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    too_long.append(f"{short(path)}:{node.name} has {lines} lines")
    assert not too_long


def test_nothing_is_left_for_later() -> None:
    marker = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    left = [
        f"{short(path)}:{number}"
        for path in [*sources(), *tracked("frontend/src/**")]
        if path.suffix in {".py", ".ts", ".tsx"}
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if marker.search(line)
    ]
    assert not left


@pytest.mark.parametrize("package", PURE_PACKAGES)
def test_pure_packages_ask_for_the_world(package: str) -> None:
    found = []
    for path in tracked(f"dataplane/{package}/**.py"):
        if "fakes" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in BANNED_IN_PURE_PACKAGES:
                    found.append(
                        f"{short(path)}:{node.lineno} {name} → {BANNED_IN_PURE_PACKAGES[name]}"
                    )
    assert not found


def test_every_handler_says_what_it_does() -> None:
    for path in tracked("dataplane/handlers/**.py"):
        if path.name not in {"__init__.py", "registry.py"}:
            assert ast.get_docstring(ast.parse(path.read_text())), short(path)


def test_every_package_has_a_readme() -> None:
    missing = [
        package
        for package in (
            *PACKAGES[:4],
            "frontend",
            "deploy",
            *(f"dataplane/{r}" for r in PURE_PACKAGES),
        )
        if not (REPOSITORY / package / "README.md").exists()
    ]
    assert not missing


def test_locks_hold_hashes_and_no_registry() -> None:
    for path in tracked("requirements/*.lock"):
        text = path.read_text()
        assert "--hash=sha256:" in text
        assert "--index-url" not in text
        assert "://" not in text, short(path)
    for path in tracked("**/package-lock.json"):
        assert '"resolved": "http' not in path.read_text(), short(path)


def test_every_silenced_check_says_why() -> None:
    silenced = re.compile(r"#\s*(noqa|type:\s*ignore)(?P<codes>[:\[][^#]*)?(?P<reason>#.*|-.*)?$")
    bare = []
    for path in sources():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = silenced.search(line)
            if match and not re.search(r"(#\s*\S.*|\s-\s*\S.*|—.*)$", line[match.start() + 2 :]):
                bare.append(f"{short(path)}:{number}: {line.strip()}")
    assert not bare
