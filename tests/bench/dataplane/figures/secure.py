"""What security costs: SCRAM and ACLs beside a broker without, TLS beside Kafka's."""

from __future__ import annotations

import statistics
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.dataplane import frames, limits, protocol, secured
from tests.bench.dataplane.bench import lanes, load_sample, produced
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.load import drive
from tests.bench.dataplane.results import ratio_at_least, value_at_most
from tests.bench.dataplane.task import Task

if TYPE_CHECKING:
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.task import Lane, Outcome

PARTITIONS = 4
SMALL_BYTES = 200
BATCH_BYTES = 64 * 1024
OVERHEAD_MAX = 1.10
PLAIN, SECURED = "plain", "secured"


def sasl(bench: Bench) -> None:
    """The same small request with and without; only CPU per request tells them apart."""
    bench.close()
    with ExitStack() as stack:
        sides = [
            stack.enter_context(Cluster(OURS, 1, name=PLAIN)),
            stack.enter_context(
                Cluster(
                    OURS,
                    1,
                    secured.scram_settings(),
                    name=SECURED,
                    second_listener="SASL_PLAINTEXT",
                )
            ),
        ]
        for side in sides:
            side.start()
        secured.check_refused(sides[1].brokers[0].second_port)
        secured.allow_topics(sides[1].port)
        for in_flight, title in ((125, "pipelined"), (1, "one in flight")):
            _overhead(bench, sides, in_flight, title)


def _overhead(bench: Bench, sides: list[Cluster], in_flight: int, title: str) -> None:
    records = frames.batch(SMALL_BYTES)[1]

    def once(side: Cluster) -> Sample:
        topic = bench.new_topic(side, PARTITIONS, 1)
        task = Task(
            lanes=lanes(side, topic, PARTITIONS),
            seconds=bench.options.seconds,
            payload_bytes_max=limits.SAMPLE_BYTES,
            in_flight=in_flight,
            batch_bytes=SMALL_BYTES,
        )
        outcome, cpu_s = _produced(
            side, task, records, secured.SCRAM if side.name == SECURED else ""
        )
        protocol.delete_topic(side.port, topic)
        side.wait_until_deleted()
        return load_sample(outcome, cpu_s)

    for side in sides:
        once(side)
    samples = bench.rounds(sides, once, lambda side: side.name)
    ratios = [
        {"of_plain": ours["cpu_us"] / plain["cpu_us"]}
        for ours, plain in zip(samples[SECURED], samples[PLAIN], strict=True)
    ]
    plain_us = statistics.median(sample["cpu_us"] for sample in samples[PLAIN])
    name = f"SCRAM and ACLs, 200 B, {title}: CPU per request"
    ours = {"ours": samples[SECURED]}
    bench.row(name, "µs", ours, "cpu_us", limit=f"without {plain_us:.1f} µs")
    bench.row(
        "  of a request without",
        "×",
        {"ours": ratios},
        "of_plain",
        goal=value_at_most(OVERHEAD_MAX),
    )


def _produced(side: Cluster, task: Task, records: int, security: str) -> tuple[Outcome, float]:
    """Offsets are asked for on the plain listener, the load goes to the other."""
    if not security:
        return produced(side, task, records)
    return produced(side, task, records, _elsewhere(side, task, security))


def _elsewhere(side: Cluster, task: Task, security: str) -> Task:
    ports = {broker.port: broker.second_port for broker in side.brokers}
    moved = [replace(lane, port=ports[lane.port]) for lane in task.lanes]
    return replace(task, lanes=moved, security=security)


def tls(bench: Bench) -> None:
    """Produce, then fetch what was stored, 64 KiB each, on four connections with TLS."""
    bench.close()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-tls-") as work, ExitStack() as stack:
        settings, authority = secured.tls_settings(Path(work))
        sides = [
            stack.enter_context(Cluster(kind, 1, settings, second_listener="SSL"))
            for kind in (OURS, KAFKA)
        ]
        for side in sides:
            side.start()
        _tls_produce(bench, sides, authority)
        _tls_fetch(bench, sides, authority)


def _tls_produce(bench: Bench, sides: list[Cluster], authority: str) -> None:
    records = frames.batch(BATCH_BYTES)[1]

    def once(side: Cluster, seconds: float = bench.options.seconds) -> Sample:
        topic = bench.new_topic(side, PARTITIONS, 1)
        task = _produce_task(side, topic, seconds)
        limits.warm_pages(side.work)
        outcome, cpu_s = _produced(side, task, records, authority)
        protocol.delete_topic(side.port, topic)
        side.wait_until_deleted()
        return load_sample(outcome, cpu_s)

    bench.warm_up(sides, once, "mb_s")
    samples = bench.rounds(sides, once, lambda side: side.name)
    bench.load_rows("TLS: produce acks=1, 64 KiB", samples, goal=ratio_at_least(1))


def _tls_fetch(bench: Bench, sides: list[Cluster], authority: str) -> None:
    stored = {side.name: _store(bench, side) for side in sides}
    batch, records = frames.batch(BATCH_BYTES)

    def once(side: Cluster, seconds: float = bench.options.seconds) -> Sample:
        task = Task(
            lanes=stored[side.name],
            seconds=seconds,
            in_flight=4,
            fetch_bytes=len(batch),
            fetch_batches=1,
            records=records,
        )
        return load_sample(*drive(_elsewhere(side, task, authority), side.pids))

    bench.warm_up(sides, once, "mb_s")
    samples = bench.rounds(sides, once, lambda side: side.name)
    bench.load_rows("TLS: fetch, 64 KiB", samples, goal=ratio_at_least(1))


def _produce_task(
    side: Cluster, topic: str, seconds: float, most: int = limits.SAMPLE_BYTES
) -> Task:
    return Task(
        lanes=lanes(side, topic, PARTITIONS),
        seconds=seconds,
        payload_bytes_max=most,
        in_flight=4,
        batch_bytes=BATCH_BYTES,
    )


def _store(bench: Bench, side: Cluster) -> list[Lane]:
    records = frames.batch(BATCH_BYTES)[1]
    topic = bench.new_topic(side, PARTITIONS, 1)
    task = _produce_task(side, topic, 60.0, 128 << 20)
    produced(side, task, records)
    with protocol.Client(side.port) as client:
        ends = [client.end_offsets(topic, [lane.partition]) for lane in task.lanes]
    return [replace(lane, stored_batches=min(ends) // records) for lane in task.lanes]
