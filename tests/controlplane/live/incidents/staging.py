"""Which incident is of which rule, and how they go side by side.

Incidents of one lane go one after the other, as each needs what another would disturb; lanes go at
the same time.
"""

import threading
import traceback
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass

from tests.controlplane.live.incidents import brokers, groups, hosts, objectives, parts
from tests.controlplane.live.incidents.incident import Row
from tests.controlplane.live.incidents.world import World

LAST = "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """An incident. `lane` `LAST` waits for all others; `is_quick`: also in `make test`."""

    rules: tuple[str, ...]
    run: Callable[[World], None]
    lane: str = ""
    is_quick: bool = False


STAGED = (
    Staged(rules=("group-stalled",), run=groups.stalled),
    Staged(rules=("group-falling-behind",), run=groups.falling_behind),
    Staged(rules=("group-losing-data",), run=groups.losing_data),
    Staged(rules=("retention-headroom",), run=groups.headroom),
    Staged(rules=("group-stopped",), run=groups.stopped),
    Staged(rules=("spark-late",), run=parts.spark_late),
    Staged(rules=("objective-burning",), run=objectives.burning),
    Staged(rules=("disk-filling",), run=brokers.disk_filling),
    Staged(rules=("broker-down",), run=brokers.broker_down, lane="three", is_quick=True),
    Staged(rules=("broker-restarting",), run=brokers.broker_restarting, lane="three"),
    Staged(
        rules=(
            *("partitions-offline", "partitions-under-min-isr", "partitions-under-replicated"),
            "log-directory-failed",
        ),
        run=brokers.failed_directory,
        lane="theirs",
    ),
    Staged(rules=("controller-missing",), run=brokers.controller_missing, lane="theirs"),
    Staged(rules=("quota-hit",), run=parts.quota_hit, lane="lone"),
    Staged(rules=("cluster-away",), run=parts.cluster_away, lane="lone"),
    Staged(rules=("collector-late",), run=parts.collector_late, lane="lone"),
    Staged(rules=("operation-failed",), run=parts.operation_failed, lane="holds", is_quick=True),
    Staged(rules=("operation-stuck",), run=parts.operation_stuck, lane="holds", is_quick=True),
    Staged(
        rules=("certificate-ending", "host-certificate-ending"),
        run=parts.certificate_ending,
        is_quick=True,
    ),
    Staged(rules=("key-ending",), run=parts.key_ending, is_quick=True),
    Staged(rules=("host-silent",), run=hosts.silent),
    Staged(rules=("host-disk-filling",), run=hosts.disk_filling),
    Staged(
        rules=("zookeeper-unreachable", "host-registry-away"),
        run=brokers.zookeeper_unreachable,
        lane=LAST,
    ),
    Staged(rules=("host-resources-low",), run=hosts.resources_low, lane=LAST),
)


class Stage:
    """Runs the incidents of these rules; `outcome` waits for one."""

    def __init__(self, world: World, rules: Collection[str]) -> None:
        self._world = world
        wanted = [each for each in STAGED if set(each.rules) & set(rules)]
        self._of_rule = {rule: Future() for each in wanted for rule in each.rules}
        if "spark-late" not in self._of_rule:
            world.lay_jars()
            world.spark_can_run.set()
        lanes: dict[str, list[Staged]] = {}
        for each in wanted:
            lanes.setdefault(each.lane or each.rules[0], []).append(each)
        last = lanes.pop(LAST, [])
        self._lanes = [
            threading.Thread(target=self._go, args=(found,), name=lane, daemon=True)
            for lane, found in lanes.items()
        ]
        self._last = threading.Thread(target=self._go_last, args=(last,), name=LAST, daemon=True)

    def start(self) -> None:
        for thread in (*self._lanes, self._last):
            thread.start()

    def outcome(self, rule: str) -> Row:
        """Waits until the incident has ended; raises what went wrong in it."""
        self._of_rule[rule].result()
        (row,) = [row for row in self._world.table if row.rule == rule]
        return row

    def _go_last(self, found: list[Staged]) -> None:
        for thread in self._lanes:
            thread.join()
        self._go(found)

    def _go(self, found: list[Staged]) -> None:
        for each in found:
            error: BaseException | None = None
            try:
                each.run(self._world)
            except BaseException as raised:
                error = raised
                # At once: others may take minutes yet.
                print(f"{', '.join(each.rules)}:", *traceback.format_exception(error), flush=True)
            for rule in each.rules:
                if error is None:
                    self._of_rule[rule].set_result(None)
                else:
                    self._of_rule[rule].set_exception(error)
