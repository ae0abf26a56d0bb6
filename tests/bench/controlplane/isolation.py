"""What black holes of one tenant cost another: a topic's creation, quiet and beside eight of them.

The whole service runs: web, Celery's workers, Redis, ZooKeeper, three brokers. A creation's time is from
the confirmation to its end as REST shows it. The first creations of a run are not counted.
"""

import contextlib
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.controlplane.live.black_holes import BlackHoles
from tests.controlplane.live.service import TERMINAL, LiveService
from tests.ports import free_row

HOLES, CREATIONS, WARM_UP = 8, 25, 5
GOAL_RATIO = 1.2
POLL_S = 0.005
TIMEOUT_S = 120.0
BEGIN_S = 3.0
"""How long the registrations have had when the creations beside them begin."""


def measure() -> dict[str, Any]:
    """Seconds of each creation, quiet, beside the black holes, and quiet again."""
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as held:
        service = LiveService(Path(directory))
        held.callback(service.stop)
        service.start()
        body = {"name": "bench", "broker_count": 3, "listener_security": "SASL_PLAINTEXT"}
        body |= {"config": {}, "confirm": True}
        ended = service.finish(service.post("/clusters", body)["operation"])
        if ended["state"] != "succeeded":
            raise SystemExit(f"no cluster to measure: {ended['error']}")
        service.cluster_id = ended["cluster_id"]
        _creations(service, "warm", WARM_UP)
        quiet = _creations(service, "quiet", CREATIONS)
        stranger = service.tenant("stranger")
        target = service.get(f"/clusters/{service.cluster_id}")["bootstrap_servers"].split(",")[0]
        login = service.new_user("stranger")
        holes = held.enter_context(BlackHoles(HOLES, target))
        plans = [
            stranger.plan_registration(f"hole-{number}", address, login)
            for number, address in enumerate(holes.addresses)
        ]
        holes.turn()
        registrations = [stranger.confirm(plan) for plan in plans]
        time.sleep(BEGIN_S)
        trouble = _creations(service, "trouble", CREATIONS)
        left = [stranger.operation(row)["state"] not in TERMINAL for row in registrations]
        return {
            "quiet_s": quiet,
            "trouble_s": trouble,
            "ratio": statistics.median(trouble) / statistics.median(quiet),
            "holes_at_the_end": sum(left),
        }


def _creations(service: LiveService, prefix: str, count: int) -> list[float]:
    took_s = []
    for number in range(count):
        plan = service.plan(
            "topic.create", name=f"{prefix}-{number}", partitions=3, replication_factor=3
        )
        began_s = time.monotonic()
        operation = service.confirm(plan)
        while operation["state"] not in TERMINAL:
            if time.monotonic() - began_s > TIMEOUT_S:
                raise SystemExit(f"{operation['id']} has not ended in {TIMEOUT_S:.0f} s")
            time.sleep(POLL_S)
            operation = service.operation(operation)
        took_s.append(time.monotonic() - began_s)
        if operation["state"] != "succeeded":
            raise SystemExit(f"a creation failed: {operation['error']}")
    return took_s


def report() -> dict[str, Any]:
    """Measure, print, answer what was found."""
    free_row(1)  # the lane of ports is taken before anything starts
    found = measure()
    print(
        f"\nCreating a topic beside {HOLES} registrations that never answer"
        f" (seconds, {CREATIONS} each; goal: ratio ≤ {GOAL_RATIO})"
    )
    print(f"{'':>12} {'median':>8} {'slowest':>8}")
    for name in ("quiet", "trouble"):
        rows = found[f"{name}_s"]
        print(f"{name:>12} {statistics.median(rows):>8.3f} {max(rows):>8.3f}")
    print(
        f"{'ratio':>12} {found['ratio']:>8.2f}"
        f"    {found['holes_at_the_end']} of {HOLES} were still tried at the end",
        flush=True,
    )
    return found
