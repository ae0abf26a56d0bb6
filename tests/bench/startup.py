"""`make bench-startup`: start-up, memory and failover of this checkout, as a table.

Each figure stands beside its goal. Nothing fails when a goal is missed: this measures.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from dataplane.config import format_properties
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.bench.dataplane.proc import resident_mib
from tests.ports import free_row

REPOSITORY = Path(__file__).resolve().parents[2]
ROUNDS = 5
ROWS: list[tuple[str, str, str, str]] = []
FIGURES: dict[str, list[float]] = {}


def main() -> int:
    measure_broker_start()
    measure_failover()
    if "--no-service" not in sys.argv:
        measure_service()
    print_table()
    return 0


def record(name: str, values: list[float], unit: str, goal: str) -> None:
    FIGURES[name] = values
    spread = f"{min(values):.2f}–{max(values):.2f}"
    ROWS.append((name, f"{statistics.median(values):.2f} {unit}", spread, goal))


def print_table() -> None:
    widths = [
        max(len(row[i]) for row in [*ROWS, ("", "median", "spread", "goal")]) for i in range(4)
    ]
    for row in [("", "median", "spread", "goal"), *ROWS]:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    target = REPOSITORY / "build" / "bench-startup.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(FIGURES, indent=1))
    print(f"\nsaved {target.relative_to(REPOSITORY)}")


def measure_broker_start() -> None:
    """From exec of a broker on an empty log directory until it answers ApiVersions."""
    starts_s, residents_mib = [], []
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as work, zookeeper(work) as connect:
        for round_number in range(ROUNDS):
            port = free_row(1)
            config = Path(work) / f"broker-{round_number}.properties"
            config.write_text(
                format_properties(
                    {
                        "broker.id": str(round_number),
                        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
                        "log.dirs": f"{work}/logs-{round_number}",
                        "zookeeper.connect": f"{connect}/round-{round_number}",
                    }
                )
            )
            began_s = time.perf_counter()
            with running("-m", "dataplane", "broker", "--config", str(config)) as process:
                while not answers(port):
                    if process.poll() is not None:
                        raise SystemExit("the broker ended before it served")
                    time.sleep(0.005)
                starts_s.append(time.perf_counter() - began_s)
                time.sleep(3)
                residents_mib.append(resident_mib(process.pid))
    record("broker: exec to serving", starts_s, "s", "≤ 0.5 s")
    record("broker: resident at rest", residents_mib, "MB", "≤ 60 MB")


def measure_failover() -> None:
    """SIGKILL of a leader: the longest gap between acknowledgements at acks=all."""
    gaps_s = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as work:
            gaps_s.append(one_failover(work))
    record("leader SIGKILL: longest gap in acknowledgements", gaps_s, "s", "≤ 2 s")


def one_failover(work: str) -> float:
    port = free_row(3)
    command = ("-m", "dataplane", "local-cluster", "--brokers", "3", "--port", str(port))
    with running(*command, "--data-dir", work, stdout=subprocess.PIPE) as cluster:
        assert cluster.stdout is not None
        bootstrap = cluster.stdout.readline().decode().strip().removeprefix("ready bootstrap=")
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for future in admin.create_topics([NewTopic("bench", 1, 3)]).values():
            future.result(30)
        acknowledged_s: list[float] = []
        stop = threading.Event()
        thread = threading.Thread(target=produce, args=(bootstrap, acknowledged_s, stop))
        thread.start()
        time.sleep(3)
        leader = admin.list_topics("bench", timeout=10).topics["bench"].partitions[0].leader
        os.kill(broker_pid(cluster.pid, leader), signal.SIGKILL)
        time.sleep(8)
        stop.set()
        thread.join()
    return max(b - a for a, b in itertools.pairwise(acknowledged_s))


def produce(bootstrap: str, acknowledged_s: list[float], stop: threading.Event) -> None:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 0}
    )

    def on_delivery(error: object, _message: object) -> None:
        if error is None:
            acknowledged_s.append(time.perf_counter())

    while not stop.is_set():
        producer.produce("bench", b"x" * 100, on_delivery=on_delivery)
        producer.poll(0.005)
    producer.flush(10)


def measure_service() -> None:
    """`make up` on an installed checkout, empty data directory: console and demo cluster."""
    console_s, running_s = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as work:
            first = free_row(60)
            environment = {
                **os.environ,
                "PENSTOCK_DATA_DIR": f"{work}/data",
                "PENSTOCK_HTTP_PORT": str(first),
                "PENSTOCK_ZOOKEEPER_PORT": str(first + 1),
                "PENSTOCK_REDIS_PORT": str(first + 2),
                "PENSTOCK_BROKER_PORTS": f"{first + 10}-{first + 50}",
            }
            began_s = time.perf_counter()
            with running("-m", "deploy.local", "up", stdout=subprocess.PIPE, env=environment) as up:
                assert up.stdout is not None
                for line in up.stdout:
                    elapsed_s = time.perf_counter() - began_s
                    if b"console at" in line:
                        console_s.append(elapsed_s)
                    if b"is RUNNING" in line:
                        running_s.append(elapsed_s)
                    if b"Penstock is up" in line:
                        break
    record("make up: to a served console", console_s, "s", "≤ 30 s")
    record("make up: to the demo cluster RUNNING", running_s, "s", "≤ 45 s")


@contextlib.contextmanager
def running(*arguments: str, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, *arguments], cwd=REPOSITORY, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@contextlib.contextmanager
def zookeeper(work: str) -> Iterator[str]:
    server = EmbeddedZooKeeper(Path(work) / "zookeeper")
    server.start()
    try:
        yield server.connect_string
    finally:
        server.stop()


def answers(port: int) -> bool:
    """Whether an ApiVersions v0 request gets its reply."""
    request = b"\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff"
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(len(request).to_bytes(4, "big") + request)
            return len(connection.recv(64)) > 8
    except OSError:
        return False


def broker_pid(parent: int, broker_id: int) -> int:
    """The broker process below `parent` whose configuration says `broker.id`."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if "broker" not in words or "--config" not in words:
                continue
            stat = (entry / "stat").read_text()
            config = Path(words[words.index("--config") + 1]).read_text()
            ours = int(stat.rsplit(")", 1)[1].split()[1]) == parent
            if ours and f"broker.id={broker_id}" in config.splitlines():
                return int(entry.name)
    raise SystemExit(f"no process of broker {broker_id} found")


if __name__ == "__main__":
    raise SystemExit(main())
