import itertools
import json

import pytest

from controlplane.gateway.record_port import NewRecord
from tests.controlplane.conftest import no_rate_limits, redis_server, world

__all__ = ["no_rate_limits", "orders", "redis_server", "world"]


def fill(gateway, topic, rows, *, partitions=1, first_ms=1_700_000_000_000):
    """Rows of (partition, key, value, headers) into a new topic, a second apart."""
    gateway.add_topic(topic, partitions=partitions)
    clock = itertools.count(first_ms, 1000)
    for partition, key, value, *headers in rows:
        record = NewRecord(
            partition=partition, key=key, value=value, headers=tuple(headers[0] if headers else ())
        )
        gateway.write_record(topic, record, at_ms=next(clock))


@pytest.fixture
def orders(world):
    """`orders`: 3 partitions, 30 records of JSON, number n in partition n % 3."""
    rows = [
        (
            n % 3,
            f"key-{n}".encode(),
            json.dumps({"n": n, "who": {"email": f"u{n}@example.org"}}).encode(),
            (("region", b"eu" if n % 2 else b"us"),),
        )
        for n in range(30)
    ]
    fill(world.gateway, "orders", rows, partitions=3)
    return f"/api/v1/clusters/{world.cluster.id}/topics/orders/messages"
