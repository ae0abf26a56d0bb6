"""`make bench-controlplane`: CPU seconds of a rebalance plan, beside what the planner replaced; and
what clusters that never answer cost another tenant (`isolation`, `--only isolation`); and observed
state at size (`observed`), rounds over the alert rules (`alerts`), what the collector does with a sample
(`collector`), and what saying how lag objectives burn costs (`objectives`).

Ten of a hundred brokers are new and empty; sizes differ by orders of magnitude. Prints a table,
saves JSON under build/bench. Only a wrong answer fails it: a second plan must be empty.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from controlplane.gateway.types import TP
from controlplane.reassignments.planner.plan import rebalance
from controlplane.reassignments.planner.types import Broker, Partition
from tests.bench.controlplane import alerts, collector, isolation, objectives, observed
from tests.bench.controlplane.counted_spread import counted_spread

REPOSITORY = Path(__file__).resolve().parents[3]
BROKERS, NEW_BROKERS, RACKS, REPLICAS = 100, 10, 5, 3
PARTITIONS_PER_TOPIC = 20
COUNTS = (30_000, 100_000)
REPLACED_COUNT_MAX = 30_000
GOAL_S = 10.0


def cluster(count: int) -> tuple[list[Partition], list[Broker]]:
    rng = random.Random(count)
    old = range(1, BROKERS - NEW_BROKERS + 1)
    partitions = [
        Partition(
            tp=TP(f"topic-{i // PARTITIONS_PER_TOPIC}", i % PARTITIONS_PER_TOPIC),
            replicas=tuple(rng.sample(old, REPLICAS)),
            size_bytes=int(rng.lognormvariate(18, 2)),
        )
        for i in range(count)
    ]
    return partitions, [Broker(id=i, rack=f"rack-{i % RACKS}") for i in range(1, BROKERS + 1)]


def spread_of(values: list[int]) -> str:
    return f"{min(values):,}–{max(values):,}"


def measure(count: int) -> dict[str, object]:
    partitions, brokers = cluster(count)
    began_s = time.process_time()
    plan = rebalance(partitions, brokers)
    planned_s = time.process_time() - began_s
    placed = [replace(row, replicas=plan.wanted.get(row.tp, row.replicas)) for row in partitions]
    began_s = time.process_time()
    if rebalance(placed, brokers).wanted:
        raise SystemExit("a second plan is not empty")
    again_s = time.process_time() - began_s
    replaced_s = None
    if count <= REPLACED_COUNT_MAX:
        began_s = time.process_time()
        counted_spread({row.tp: row.replicas for row in partitions}, [b.id for b in brokers])
        replaced_s = time.process_time() - began_s
    after = [row.after for row in plan.brokers]
    return {
        "partitions": count,
        "plan_s": planned_s,
        "second_plan_s": again_s,
        "replaced_s": replaced_s,
        "changed": len(plan.wanted),
        "bytes_to_move": plan.bytes_to_move,
        "gib": spread_of([(row.bytes or 0) >> 30 for row in after]),
        "replicas": spread_of([row.replicas for row in after]),
        "leaders": spread_of([row.leaders for row in after]),
        "rack_violations": sum(row.rack_violations for row in after),
        "limits": len(plan.limits),
    }


def rebalances() -> list[dict[str, object]]:
    """Measure, print, answer what was found."""
    rows = []
    print(
        f"Rebalance onto {BROKERS} brokers, {NEW_BROKERS} of them new (CPU seconds; goal {GOAL_S:g})"
    )
    print(
        f"{'partitions':>10} {'plan':>7} {'second':>7} {'replaced':>9} {'changed':>8}"
        f" {'GiB a broker':>14} {'replicas':>12} {'leaders':>12} {'rack viol.':>10} {'limits':>7}"
    )
    for count in COUNTS:
        row = measure(count)
        rows.append(row)
        old = "–" if row["replaced_s"] is None else f"{row['replaced_s']:.1f}"
        print(
            f"{count:>10,} {row['plan_s']:>7.1f} {row['second_plan_s']:>7.1f} {old:>9}"
            f" {row['changed']:>8,} {row['gib']:>14} {row['replicas']:>12} {row['leaders']:>12}"
            f" {row['rack_violations']:>10} {row['limits']:>7}",
            flush=True,
        )
    return rows


FIGURES: dict[str, Callable[[], object]] = {
    "rebalance": rebalances,
    "isolation": isolation.report,
    # Last: each makes this process one of the service's, so by itself alone.
    "observed": observed.report,
    "alerts": alerts.report,
    "collector": collector.report,
    "objectives": objectives.report,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-controlplane")
    parser.add_argument("--only", choices=FIGURES, help="one figure instead of all")
    only = parser.parse_args().only
    found = {name: figure() for name, figure in FIGURES.items() if only in {None, name}}
    target = REPOSITORY / "build" / "bench" / "controlplane.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=1))
    print(f"saved {target.relative_to(REPOSITORY)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
