"""A small, realistic load on the demo cluster: shops order, pay and click; one group lags.

Runs until SIGTERM. Every rate is low: this is something to look at, not a benchmark.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer

log = logging.getLogger("workload")

RATE_PER_S = {
    "demo.orders": 40,
    "demo.payments": 25,
    "demo.clicks": 80,
    "demo.inventory": 10,
    "demo.audit": 2,
}
KEYED = frozenset({"demo.orders", "demo.payments", "demo.inventory"})
# Group, topic, records per second it can work through (None: as fast as they come).
GROUPS: tuple[tuple[str, str, float | None], ...] = (
    ("demo-billing", "demo.payments", None),
    ("demo-fulfilment", "demo.orders", None),
    ("demo-clickstream", "demo.clicks", None),
    ("demo-fraud-check", "demo.orders", 12.0),
)
POLL_S = 0.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--client", type=Path, required=True, help="JSON file with client settings")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    settings: dict[str, Any] = json.loads(parser.parse_args().client.read_text())
    settings.pop("cluster_id", None)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    jobs: list[Callable[[], None]] = [functools.partial(produce, settings, stop)]
    jobs += [functools.partial(consume, settings, stop, *group) for group in GROUPS]
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    while not stop.wait(1):
        if not all(thread.is_alive() for thread in threads):
            log.error("a part of the workload ended; leaving so that it is started again")
            return 1
    for thread in threads:
        thread.join(10)
    return 0


def produce(settings: dict[str, Any], stop: threading.Event) -> None:
    producer = Producer(
        {**settings, "enable.idempotence": True, "compression.type": "lz4", "linger.ms": 50}
    )
    rng = random.Random()
    sequence = 0
    due = dict.fromkeys(RATE_PER_S, 0.0)
    while not stop.wait(0.1):
        for topic, rate in RATE_PER_S.items():
            due[topic] += rate * 0.1 * rng.uniform(0.6, 1.4)
            while due[topic] >= 1:
                due[topic] -= 1
                sequence += 1
                key = f"shop-{rng.randrange(200)}" if topic in KEYED else None
                _send(producer, topic, key, _value(topic, sequence, rng))
        producer.poll(0)
    producer.flush(5)


def consume(
    settings: dict[str, Any], stop: threading.Event, group: str, topic: str, rate: float | None
) -> None:
    consumer = Consumer(
        {
            **settings,
            "group.id": group,
            "client.id": f"{group}-1",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    try:
        while not stop.is_set():
            batch_max = max(1, int(rate * POLL_S)) if rate else 500
            began_s = time.monotonic()
            records = [r for r in consumer.consume(batch_max, timeout=POLL_S) if r.error() is None]
            if records:
                _commit(consumer, group)
            if rate:
                stop.wait(max(0.0, POLL_S - (time.monotonic() - began_s)))
    finally:
        consumer.close()


def _send(producer: Producer, topic: str, key: str | None, value: bytes) -> None:
    try:
        producer.produce(topic, value=value, key=key)
    except BufferError:
        # The cluster is away for longer than the buffer lasts: a demo drops, and says so.
        log.warning("producer buffer full, one record of %s dropped", topic)
        producer.poll(0.5)


def _commit(consumer: Consumer, group: str) -> None:
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as error:
        log.warning("%s could not commit: %s", group, error)


def _value(topic: str, sequence: int, rng: random.Random) -> bytes:
    return json.dumps(
        {
            "id": sequence,
            "kind": topic.removeprefix("demo."),
            "amount": round(rng.lognormvariate(3, 1), 2),
            "currency": rng.choice(("EUR", "USD", "GBP")),
            "note": "x" * rng.randrange(20, 400),
        }
    ).encode()


if __name__ == "__main__":
    raise SystemExit(main())
