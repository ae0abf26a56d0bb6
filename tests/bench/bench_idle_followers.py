"""What idle replicas cost: `python tests/bench/bench_idle_followers.py [partitions] [checkout]`.

Three brokers, one topic of so many partitions (1,000) on all of them, nobody writes. Prints the CPU
time of each broker and the bytes over its connections to peers, per second; saves them as JSON
under build/bench. Another checkout may be measured by the same script.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.dataplane.proc import cpu_s

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
SETTLE_S, MEASURE_S = 8.0, 20.0
READY_S = 120.0


def main() -> int:
    partitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    checkout = Path(sys.argv[2] if len(sys.argv) > 2 else REPOSITORY).resolve()
    with (
        tempfile.TemporaryDirectory(prefix="penstock-bench-") as work,
        cluster(checkout, work) as bootstrap,
    ):
        create(bootstrap, partitions)
        time.sleep(SETTLE_S)
        figures = measure(broker_pids(work))
    print(f"{partitions} partitions on three brokers, {MEASURE_S:.0f} s without a record")
    for row in figures:
        print(
            f"broker {row['broker']}: {row['cpu_ms_per_s']:6.1f} ms CPU/s"
            f"  {row['sent_bytes_per_s']:10.0f} B/s sent"
        )
    target = REPOSITORY / "build" / "bench" / "idle_followers.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"partitions": partitions, "brokers": figures}, indent=1))
    return 0


@contextlib.contextmanager
def cluster(checkout: Path, work: str) -> Iterator[str]:
    """A local cluster of the checkout's code; its bootstrap address."""
    command = [sys.executable, "-m", "dataplane", "local-cluster", "--brokers", "3"]
    with subprocess.Popen(
        [*command, "--port", "0", "--data-dir", work],
        cwd=checkout,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            if not ready.startswith("ready"):
                raise SystemExit("the cluster does not start")
            yield ready.split("bootstrap=")[1].strip()
        finally:
            process.terminate()
            process.wait(60)


def create(bootstrap: str, partitions: int) -> None:
    """Make the topic and wait until every ISR is full."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic("idle", partitions, 3)])["idle"].result(60)
    until_s = time.monotonic() + READY_S
    while time.monotonic() < until_s:
        topic = admin.list_topics("idle", timeout=30).topics["idle"]
        full = [each for each in topic.partitions.values() if len(each.isrs) == 3]
        if len(full) == partitions:
            return
        time.sleep(0.2)
    raise SystemExit("the ISRs do not fill up")


def broker_pids(work: str) -> list[int]:
    return [json.loads(each.read_text())["pid"] for each in sorted(Path(work).rglob("broker.pid"))]


def measure(pids: list[int]) -> list[dict[str, float]]:
    before_s = time.monotonic()
    before = [(cpu_s([pid]), sent_bytes(pid)) for pid in pids]
    time.sleep(MEASURE_S)
    after = [(cpu_s([pid]), sent_bytes(pid)) for pid in pids]
    took_s = time.monotonic() - before_s
    return [
        {
            "broker": number,
            "cpu_ms_per_s": 1000 * (now[0] - then[0]) / took_s,
            "sent_bytes_per_s": (now[1] - then[1]) / took_s,
        }
        for number, (then, now) in enumerate(zip(before, after, strict=True))
    ]


def sent_bytes(pid: int) -> int:
    """Bytes sent on the process's present TCP connections, by the kernel's count."""
    listed = subprocess.run(["ss", "-tinpH"], capture_output=True, text=True, check=True).stdout
    lines = listed.splitlines()
    total = 0
    for head, details in itertools.pairwise(lines):
        if f"pid={pid}," in head and (found := re.search(r"bytes_sent:(\d+)", details)):
            total += int(found[1])
    return total


if __name__ == "__main__":
    sys.exit(main())
