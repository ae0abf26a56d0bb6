"""What the console's read models take at 10,000 topics and 5,000 groups, over HTTP.

`python -m tests.bench.console.read_models` prints for each page, on PostgreSQL and on SQLite: the
median and the 95th percentile alone, that of `CLIENTS` who ask at a time, how long the answer "not
modified" takes, SQL statements and bytes. The brokers are a fake in memory; databases and the web
server are real (`served`). The overview is not among them: it asks hosts.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.bench.console.large_tables import Large, made
from tests.bench.controlplane.large_cluster import GROUPS, TOPICS, group_name, topic_name
from tests.bench.controlplane.observed import REPOSITORY, timed_s, web
from tests.bench.controlplane.throwaway_postgres import postgres

P95_MS = 150.0
REQUESTS, CLIENTS = 40, 4
APPLICATION = "tests.bench.console.served:application"
DATABASES = ("postgresql", "sqlite")


NOT_HERE = ("whole tenant", "is not run by an agent of the service", "run by somebody else")
"""Of these figures' cluster, whose brokers are the bench's own."""


def _is_as_it_must_be(reason: str) -> bool:
    return any(words in reason for words in NOT_HERE)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Of one page; times in ms, the answer's size in bytes before compression.

    Attributes:
        together_p95_ms: while `CLIENTS` ask for the same at a time.
        known_p95_ms, known_statements: of the answer 304; None: it was never the same twice.
    """

    database: str
    page: str
    p50_ms: float
    p95_ms: float
    together_p95_ms: float
    known_p95_ms: float | None
    statements: int
    known_statements: int | None
    bytes: int
    limit_ms: float = P95_MS

    def line(self) -> str:
        verdict = "ok" if self.p95_ms <= self.limit_ms else "MISSED"
        statements = f"{self.statements}/{_or_dash(self.known_statements, 'd')}"
        return (
            f"{self.page:<30} {self.p50_ms:>8.1f} {self.p95_ms:>8.1f} {self.together_p95_ms:>10.1f}"
            f" {_or_dash(self.known_p95_ms, '.1f'):>8} {statements:>8} {self.bytes / 1024:>8.1f}"
            f"  <= {self.limit_ms:g}  {verdict}"
        )


HEADER = (
    f"{'page':<30} {'p50 ms':>8} {'p95 ms':>8} {f'p95 of {CLIENTS}':>10} {'304 p95':>8}"
    f" {'SQL/304':>8} {'KiB':>8}  demanded"
)


def _or_dash(value: float | None, shape: str) -> str:
    return "–" if value is None else format(value, shape)


def pages(cluster_id: str) -> dict[str, str]:
    """What is measured: the name that is printed, and the page with its question."""
    topics, groups = f"topics/{cluster_id}", f"groups/{cluster_id}"
    return {
        "topics: first page": topics,
        "topics: worst first": f"{topics}?sort=-health",
        "topics: largest first": f"{topics}?sort=-size",
        "topics: longest kept first": f"{topics}?sort=-retention",
        "topics: last page": f"{topics}?page=1000000",
        "topics: a search": f"{topics}?q=stream-07",
        "topics: only in trouble": f"{topics}?trouble=true",
        "topics: 200 a page": f"{topics}?size=200",
        "topic": f"topic/{cluster_id}/{topic_name(TOPICS // 2)}",
        "clients of a topic": f"clients/{cluster_id}/{topic_name(TOPICS // 2)}",
        "groups: worst first": groups,
        "groups: longest lag first": f"{groups}?sort=-lag",
        "groups: only in trouble": f"{groups}?trouble=true",
        "groups: a search": f"{groups}?q=reader-01",
        "group": f"group/{cluster_id}/{group_name(GROUPS // 2)}",
        "cluster": f"cluster/{cluster_id}",
        "broker": f"broker/{cluster_id}/1",
        "placement on a broker": f"placement/{cluster_id}/1",
        "access": f"access/{cluster_id}",
        "access: ACLs by resource": f"access/{cluster_id}?sort=-resource",
        "access: a search": f"access/{cluster_id}?q=stream-01&users_q=user-1",
        "reassign": f"reassign/{cluster_id}",
        "analytics": f"analytics/{cluster_id}",
        "operations": "operations",
    }


class Asked:
    """One client with a connection of its own."""

    def __init__(self, connection: http.client.HTTPConnection, key: str) -> None:
        self._connection = connection
        self._headers = {"Authorization": f"Bearer {key}"}

    def page(self, page: str, known: str = "") -> tuple[int, bytes, str]:
        """Status, body and tag."""
        headers = {**self._headers, **({"If-None-Match": known} if known else {})}
        answer = self._answer(f"/console/api/pages/{page}", headers)
        body = answer.read()
        if answer.status not in {200, 304}:
            raise SystemExit(f"{page} answered {answer.status}: {body[:300]!r}")
        return answer.status, body, answer.headers.get("ETag", "")

    def _answer(self, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        """The server ends a connection that was idle while others were measured."""
        try:
            self._connection.request("GET", path, headers=headers)
            return self._connection.getresponse()
        except http.client.RemoteDisconnected:
            self._connection.close()
            self._connection.request("GET", path, headers=headers)
            return self._connection.getresponse()


def times_s(action: Callable[[], object], requests: int = REQUESTS) -> list[float]:
    return sorted(timed_s(action) for _ in range(requests))


def together_s(port: int, key: str, page: str) -> list[float]:
    """Times of `CLIENTS` who ask at a time, each again as soon as it was answered."""
    found: list[float] = []

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        asked = Asked(connection, key)
        found.extend(times_s(lambda: asked.page(page), REQUESTS // CLIENTS))
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(found) != REQUESTS // CLIENTS * CLIENTS:
        raise SystemExit(f"{page}: a client was not answered")
    return sorted(found)


class Statements:
    """How many the pages take, asked of Django in this process: also those of other threads."""

    def __init__(self, key: str) -> None:
        from django.test import Client

        self._client = Client(
            SERVER_NAME="127.0.0.1",
            HTTP_AUTHORIZATION=f"Bearer {key}",
            raise_request_exception=True,
        )

    def of(self, page: str) -> tuple[int, int | None]:
        """Those of the page, and of the same page with its tag, where that is a 304."""
        address = f"/console/api/pages/{page}"
        self._client.get(address)  # whatever is looked up once a process
        with _counted() as counted:
            answer = self._client.get(address)
        with _counted() as known:
            again = self._client.get(address, HTTP_IF_NONE_MATCH=answer.headers.get("ETag", '"-"'))
        return counted[0], known[0] if again.status_code == 304 else None


@contextmanager
def _counted() -> Iterator[list[int]]:
    from django.db.backends.utils import CursorWrapper

    count, execute = [0], CursorWrapper.execute

    def counting(cursor: Any, *arguments: Any) -> Any:
        count[0] += 1
        return execute(cursor, *arguments)

    CursorWrapper.execute = counting  # type: ignore[method-assign] # for as long as it counts
    try:
        yield count
    finally:
        CursorWrapper.execute = execute  # type: ignore[method-assign] # as it was


@dataclass(frozen=True, slots=True)
class Bench:
    """A database that is filled, and the web process over it."""

    database: str
    key: str
    port: int
    asked: Asked
    statements: Statements

    def figure(self, name: str, page: str) -> Figure:
        _, body, tag = self.asked.page(page)
        for part, shown in json.loads(body)["parts"].items():
            if shown["status"] == "unavailable" and not _is_as_it_must_be(shown["reason"]):
                raise SystemExit(f"{page}: {part} is unavailable: {shown['reason']}")
        took = times_s(lambda: self.asked.page(page))
        status, _, _ = self.asked.page(page, tag)
        known = times_s(lambda: self.asked.page(page, tag)) if status == 304 else None
        counted, known_counted = self.statements.of(page)
        return Figure(
            database=self.database,
            page=name,
            p50_ms=_share_ms(took, 0.5),
            p95_ms=_share_ms(took, 0.95),
            together_p95_ms=_share_ms(together_s(self.port, self.key, page), 0.95),
            known_p95_ms=None if known is None else _share_ms(known, 0.95),
            statements=counted,
            known_statements=known_counted,
            bytes=len(body),
        )


def _share_ms(took: list[float], share: float) -> float:
    return took[int(len(took) * share)] * 1_000


def measure(database: str, only: str) -> list[Figure]:
    found = []
    with (
        tempfile.TemporaryDirectory(prefix="penstock-bench-") as directory,
        _url(database, directory) as url,
    ):
        large: Large = made(url, directory)
        statements = Statements(large.key)
        with web(dict(os.environ), APPLICATION) as connection:
            asked = Asked(connection, large.key)
            bench = Bench(database, large.key, connection.port, asked, statements)
            for name, page in pages(large.cluster_id).items():
                if name.startswith(only):
                    found.append(bench.figure(name, page))
                    print(found[-1].line(), flush=True)
        from django.db import connections

        connections.close_all()
    return found


@contextmanager
def _url(database: str, directory: str) -> Iterator[str]:
    if database == "sqlite":
        yield f"sqlite:///{directory}/bench.sqlite3"
        return
    with postgres() as url:
        yield url


def report(databases: tuple[str, ...] = DATABASES, only: str = "") -> list[dict[str, Any]]:
    """Measure each database in a process of its own, print, answer what was found."""
    found: list[dict[str, Any]] = []
    for database in databases:
        print(
            f"\nRead models of the console: {TOPICS:,} topics, {GROUPS:,} groups on {database};"
            f" {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n{HEADER}",
            flush=True,
        )
        with tempfile.TemporaryDirectory() as directory:
            saved = Path(directory, "figures.json")
            command = [sys.executable, "-m", "tests.bench.console.read_models"]
            command += ["--measure", database, "--save", str(saved), "--only", only]
            subprocess.run(command, cwd=REPOSITORY, check=True)
            found += json.loads(saved.read_text())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.console.read_models")
    parser.add_argument("--only", default="", help="pages whose name begins so")
    parser.add_argument("--databases", default=",".join(DATABASES))
    parser.add_argument("--measure", choices=DATABASES, help=argparse.SUPPRESS)
    parser.add_argument("--save", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        figures = [asdict(each) for each in measure(given.measure, given.only)]
        Path(given.save).write_text(json.dumps(figures))
        return
    report(tuple(given.databases.split(",")), given.only)


if __name__ == "__main__":
    main()
