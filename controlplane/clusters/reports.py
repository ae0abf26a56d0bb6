"""What a host's agent reports of a broker, as far as it can be believed. Pure."""

import json
from dataclasses import dataclass, replace
from typing import Any

from controlplane.common.words import storable
from controlplane.operations.details import detail_of

# What agents write ends in pages: of bounded size.
MESSAGE_MAX, LINES_MAX, LINE_MAX, ENDS_MAX = 1_000, 50, 500, 5
NAME_MAX = 64
DIRECTORIES_MAX, PATH_MAX = 32, 1_000
CONNECT_MAX = 1_200


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a broker's process that nobody asked for."""

    at_ms: int | None
    exit_code: int | None
    message: str
    log_tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDir:
    """One of a broker's `log.dirs`: the host's name for it, its path as the broker has it, and in a
    sentence what is wrong with it, if anything.
    """

    name: str
    path: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """An agent's word about one broker; `state` is running, backoff, deleted, …

    `version` and `digest` are of the release that it was started of, `software` and `protocol` what
    the process said of itself; each is empty where nobody said it. `log_dirs` is empty of an agent
    of before there could be several.

    `ends` are the newest few of this generation, the newest last.
    """

    state: str
    generation: int = 0
    pid: int | None = None
    restarts: int = 0
    since_ms: int | None = None
    exit_code: int | None = None
    message: str = ""
    log_tail: tuple[str, ...] = ()
    ends: tuple[End, ...] = ()
    version: str = ""
    digest: str = ""
    software: str = ""
    protocol: str = ""
    log_dirs: tuple[LogDir, ...] = ()
    zookeeper: str = ""
    """The connect string that the process was started with; empty: not known."""
    reported_at_ms: int | None = None
    is_watched: bool = True
    """Whether the agent that said this lives, so that it would have said what changed since."""

    def disagreement(self, wanted: int) -> str:
        """Why this says nothing of the desired generation `wanted`; empty when it does."""
        if self.generation == wanted:
            return ""
        if self.generation < wanted:
            return detail_of("report/earlier", generation=self.generation, wanted=wanted)
        return detail_of("report/never-desired", generation=self.generation)

    def as_known(self) -> "Observed":
        """What may be said of now: of a process that nobody watches, only what was said last."""
        if self.is_watched:
            return self
        said = f"The agent of its host is not alive. Its last report: {self.state}."
        return replace(self, state="unknown", pid=None, message=said)


def parse_observed(data: bytes) -> Observed:
    """An agent's word. Whatever it may have written, the answer has the types that are promised."""
    row = object_of(data)
    if row is None:
        return Observed(state="unknown", message="the agent's report cannot be read")
    ends = row.get("ends")
    told = row.get("version")
    version = told if isinstance(told, dict) else {}
    return Observed(
        state=text_of(row, "state") or "unknown",
        generation=whole_of(row, "generation") or 0,
        pid=whole_of(row, "pid"),
        restarts=whole_of(row, "restarts") or 0,
        since_ms=whole_of(row, "since_ms"),
        exit_code=whole_of(row, "exit_code"),
        message=text_of(row, "message")[:MESSAGE_MAX],
        log_tail=_lines(row),
        ends=tuple(
            _end(each)
            for each in (ends if isinstance(ends, list) else [])[-ENDS_MAX:]
            if isinstance(each, dict)
        ),
        version=text_of(version, "name")[:NAME_MAX],
        digest=text_of(version, "digest")[:NAME_MAX],
        software=text_of(version, "software")[:NAME_MAX],
        protocol=text_of(version, "protocol")[:NAME_MAX],
        log_dirs=_log_dirs(row.get("log_dirs")),
        zookeeper=text_of(row, "zookeeper")[:CONNECT_MAX],
    )


def _log_dirs(value: Any) -> tuple[LogDir, ...]:
    rows = (value if isinstance(value, list) else [])[:DIRECTORIES_MAX]
    return tuple(
        LogDir(
            name=text_of(row, "name")[:NAME_MAX],
            path=text_of(row, "path")[:PATH_MAX],
            problem=text_of(row, "problem")[:LINE_MAX],
        )
        for row in rows
        if isinstance(row, dict) and row.get("name") and row.get("path")
    )


def _end(row: dict[str, Any]) -> End:
    return End(
        at_ms=whole_of(row, "at_ms"),
        exit_code=whole_of(row, "exit_code"),
        message=text_of(row, "message")[:MESSAGE_MAX],
        log_tail=_lines(row),
    )


def _lines(row: dict[str, Any]) -> tuple[str, ...]:
    tail = row.get("log_tail")
    return tuple(
        storable(line)[:LINE_MAX]
        for line in (tail if isinstance(tail, list) else [])[-LINES_MAX:]
        if isinstance(line, str)
    )


def object_of(data: bytes) -> dict[str, Any] | None:
    """None for what is no JSON object; nesting too deep to read is none either."""
    try:
        row = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def text_of(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return storable(value) if isinstance(value, str) else ""


def whole_of(row: dict[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
