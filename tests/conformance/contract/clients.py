"""The clients: the program of each, what it needs, and how a run of it becomes results."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance import java_tools
from tests.conformance.contract.cases import CASES, NAMES

HERE = Path(__file__).parent
CONFORMANCE = HERE.parent
ROOT = CONFORMANCE.parents[1]
TIMEOUT_S = 400.0


@dataclasses.dataclass(frozen=True, slots=True)
class Client:
    """`missing` says why it cannot be run here, or None."""

    name: str
    language: str
    command: Callable[[], list[str]]
    missing: Callable[[], str | None]
    directory: Path = ROOT


def _python(program: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, str(HERE / "programs" / f"{program}.py")]


def _node_missing() -> str | None:
    if shutil.which("node") is None or not (CONFORMANCE / "node/node_modules/kafkajs").is_dir():
        return "npm ci --prefix tests/conformance/node has not been run"
    return None


def _confluent_node_missing() -> str | None:
    package = CONFORMANCE / "node/node_modules/@confluentinc/kafka-javascript"
    if not (package / "build/Release/confluent-kafka-javascript.node").is_file():
        return "its library has not been built: npm run build-confluent in tests/conformance/node"
    return _node_missing()


def _java() -> list[str]:
    classes = ROOT / "build" / "conformance" / "classes"
    classes.mkdir(parents=True, exist_ok=True)
    path = java_tools.compiled(classes, "Contract.java", "AdminCases.java", "MoreCases.java")
    return ["java", "-Xmx384m", "-cp", path, "Contract"]


def _java_missing() -> str | None:
    return None if shutil.which("javac") else "no Java compiler"


def _go_missing() -> str | None:
    return None if shutil.which("go") else "Go is not installed"


CLIENTS = (
    Client("confluent-kafka", "Python (C)", _python("confluent_kafka_program"), lambda: None),
    Client("kafka-python", "Python", _python("kafka_python_program"), lambda: None),
    Client("aiokafka", "Python", _python("aiokafka_program"), lambda: None),
    Client(
        "kafkajs",
        "JavaScript",
        lambda: ["node", "contract.js"],
        _node_missing,
        CONFORMANCE / "node",
    ),
    Client(
        "kafka-javascript",
        "JavaScript (C)",
        lambda: ["node", "contract_confluent.js"],
        _confluent_node_missing,
        CONFORMANCE / "node",
    ),
    Client("kafka-clients", "Java", _java, _java_missing),
    Client("franz-go", "Go", lambda: ["go", "run", "."], _go_missing, HERE / "go"),
    Client("sarama", "Go", lambda: ["go", "run", "."], _go_missing, HERE / "sarama"),
)


def run(client: Client, settings: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Results of one client: its version, and a status for every case of the contract."""
    path = directory / f"{client.name}.json"
    path.write_text(json.dumps({**settings, "run": f"{settings['run']}-{client.name}"}))
    try:
        done = subprocess.run(
            [*client.command(), str(path)],
            cwd=client.directory,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        out, err = done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        out, err = _text(error.stdout), _text(error.stderr) + f"\nnot done within {TIMEOUT_S} s"
    (directory / f"{client.name}.log").write_text(f"{out}\n{err}")
    return collect(client, out, err, settings["skip"])


def collect(client: Client, out: str, err: str, skip: dict[str, str]) -> dict[str, Any]:
    """Lines of JSON as a client's results. A case that was begun and not answered has failed."""
    version, found = "", {}
    for line in out.splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        version = row.get("version", version)
        if row.get("case") in NAMES:
            found[row["case"]] = {key: row[key] for key in ("status", "detail", "ms")}
    if not version:
        raise RuntimeError(f"{client.name} did not begin: {err[-1500:]}")
    ended = '"done"' in out
    cases = {}
    for case in CASES:
        if case.name in skip:
            cases[case.name] = {"status": "skipped", "detail": skip[case.name], "ms": 0}
        elif case.name in found:
            cases[case.name] = found[case.name]
        elif ended:
            cases[case.name] = {"status": "absent", "detail": "", "ms": 0}
        else:
            last = err.strip().splitlines()[-1:] or [""]
            cases[case.name] = {
                "status": "failed",
                "detail": f"not reached: {last[0]}"[:300],
                "ms": 0,
            }
    return {"client": client.name, "language": client.language, "version": version, "cases": cases}


def _text(data: bytes | str | None) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else data or ""
