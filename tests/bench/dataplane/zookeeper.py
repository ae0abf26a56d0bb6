"""What a benchmark watches in ZooKeeper: registrations and the controller's node."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from kazoo.client import KazooClient

from tests.bench.dataplane.load import BenchError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

WAIT_S_MAX = 60.0
POLL_S = 0.002


class Watcher:
    """A session that reads; times are of `time.perf_counter`."""

    def __init__(self, connect: str) -> None:
        self._client = KazooClient(hosts=connect)

    def __enter__(self) -> Self:
        self._client.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.stop()
        self._client.close()

    def controller(self) -> int | None:
        """The broker that is controller now."""
        if self._client.exists("/controller") is None:
            return None
        data, _ = self._client.get("/controller")
        return int(json.loads(data)["brokerid"])

    def forgotten_at(self, broker_id: int) -> float:
        """Wait until the broker's registration is gone."""
        deadline = time.monotonic() + WAIT_S_MAX
        while self._client.exists(f"/brokers/ids/{broker_id}") is not None:
            if time.monotonic() > deadline:
                raise BenchError(f"broker {broker_id} stays registered for {WAIT_S_MAX:.0f} s")
            time.sleep(POLL_S)
        return time.perf_counter()


def wait_until_forgotten(connect: str, broker_id: int) -> float:
    with Watcher(connect) as watcher:
        return watcher.forgotten_at(broker_id)
