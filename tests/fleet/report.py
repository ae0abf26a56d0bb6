"""The tables that `make simulate-fleet` prints, as Markdown. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from controlplane.healing.states import ASK, AUTOMATIC, OFF
from tests.fleet import published
from tests.fleet.assumed import MIB, Assumed
from tests.fleet.fleet import Fleet
from tests.fleet.heal import ROUND_S
from tests.fleet.limits import Limit, Rate

TIB = 2**40


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    shown = [head, ["---"] * len(head), *rows]
    return [*("| " + " | ".join(map(str, row)) + " |" for row in shown), ""]


def fleet_lines(fleet: Fleet, seed: int) -> list[str]:
    assumed = fleet.assumed
    brokers = sum(len(cluster.placed) for cluster in fleet.clusters)
    parts = sum(cluster.context.partition_count for cluster in fleet.clusters)
    said = (
        f"{assumed.hosts:,} hosts in {assumed.hosts // assumed.hosts_per_rack} racks,"
        f" {assumed.clusters:,} clusters, {brokers:,} brokers, {parts:,} partitions of"
        f" {assumed.replicas} replicas; {assumed.days:.0f} days, seed {seed}."
    )
    return [said, ""]


def balance_lines(fleet: Fleet) -> list[str]:
    names = {
        "brokers": "brokers of a host",
        "rack brokers": "brokers of a rack",
        "bytes": "GiB of a host",
        "leaders": "leaders of a host",
    }
    rows = []
    for figure, found in fleet.per_host().items():
        unit = 2**30 if figure == "bytes" else 1
        values = [count / unit for count in found.values()]
        mean = sum(values) / len(values)
        rows.append(
            (names[figure], f"{mean:,.1f}", f"{max(values):,.0f}", f"{max(values) / mean:.2f}")
        )
    return table(("balance, at the end", "mean", "max", "max / mean"), rows)


def failure_lines(fleet: Fleet) -> list[str]:
    tally, assumed, account = fleet.tally, fleet.assumed, fleet.healing.account
    rows = [
        (f"machines that failed and came back after {published.MACHINE_AWAY_S / 60:.0f} min",
         f"{tally.outages:,}"),
        ("hosts lost with their data", f"{tally.lost_hosts:,}"),
        ("racks away for 1 to 6 h", f"{tally.rack_failures:,}"),
        ("partition states written because of them", f"{tally.elections:,}"),
        (f"brokers put elsewhere, silent for {assumed.replace_after_s / 60:.0f} min or more",
         f"{account.begun:,}"),
        (f"copied for that, under {assumed.throttle_bytes_per_s // MIB} MiB/s a broker",
         f"{account.copied_bytes / TIB:,.1f} TiB"),
        ("brokers that no host had room for", f"{tally.no_place:,}"),
        ("cases that ended", _counted(account.ended)),
        ("clusters with partitions that refused acks=all",
         f"{tally.unwritable:,}, {tally.longest_unwritable_s / 60:.1f} min at most"),
        ("partitions with two replicas on one host", f"{tally.shared_hosts:,}"),
        ("clusters that are not whole at the end",
         f"{sum(not cluster.is_whole() for cluster in fleet.clusters):,}"),
    ]  # fmt: skip
    return [*table(("failures", ""), rows), *_healed_lines(fleet)]


def _healed_lines(fleet: Fleet) -> list[str]:
    assumed, account = fleet.assumed, fleet.healing.account
    modes = {
        AUTOMATIC: "by itself",
        ASK: f"asked first, approved after {assumed.answered_after_s / 3_600:.0f} h",
        OFF: f"off, an operator acts after {assumed.by_hand_after_s / 3_600:.0f} h",
    }
    rows = [
        (said, len(account.healed_s[mode]), _spread(sorted(account.healed_s[mode])))
        for mode, said in modes.items()
    ]
    waits = [
        (code, f"{count * ROUND_S / 3_600:,.1f}") for code, count in account.waited.most_common()
    ]
    return [
        *table(("self-healing", "brokers", "time to heal, median / 95 % / longest"), rows),
        *table(("why cases waited", "hours of cases"), waits),
    ]


def _spread(ordered: Sequence[float]) -> str:
    if not ordered:
        return "nothing was replaced"
    at = [ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)], ordered[-1]]
    return " / ".join(f"{each / 3_600:.1f} h" for each in at)


def roll_lines(fleet: Fleet) -> list[str]:
    roll = fleet.roll
    if roll is None:
        return ["The days were over before the roll.", ""]
    lasted = "not over" if roll.ended_s is None else f"{(roll.ended_s - roll.began_s) / 60:.0f} min"
    took = sorted(roll.took_s)
    rows = [
        ("brokers restarted, one at a time in a cluster", f"{roll.restarts:,}"),
        (f"duration, {fleet.assumed.rolls_at_once} clusters at a time", lasted),
        *(
            (
                f"likewise {at_once} at a time, by how long each took",
                f"{_packed_s(roll.took_s, at_once) / 60:,.0f} min",
            )
            for at_once in (1, 5, 100)
        ),
        ("of one cluster, median / longest", f"{took[len(took) // 2]:.0f} / {took[-1]:.0f} s"),
        ("ticks of operations", f"{roll.ticks:,}"),
        ("rolls that ended early, since something was in the way", _counted(roll.not_safe)),
        ("partitions that the roll itself took below min ISR", f"{len(roll.broken):,}"),
    ]
    return table(("a rolling change of everything", ""), rows)


def _counted(codes: Iterable[str] | Counter[str]) -> str:
    found = Counter(codes)
    return ", ".join(f"{found[code]:,} {code}" for code in sorted(found)) or "0"


def _packed_s(took_s: Iterable[float], at_once: int) -> float:
    """How long so many beside each other take, first come, first served."""
    ends = [0.0] * at_once
    for each in took_s:
        ends.sort()
        ends[0] += each
    return max(ends)


def rate_lines(rates: dict[str, list[Rate]], assumed: Assumed) -> list[str]:
    taken = {
        "database": f"of {assumed.database_statements_per_s:,.0f} statements/s",
        "zookeeper": f"of {assumed.zookeeper_ops_per_s:,.0f} operations/s",
    }
    lines = []
    for name, found in rates.items():
        total = sum(row.per_s for row in found)
        rows = [(row.what, f"{row.per_s:,.0f}") for row in found]
        lines += table((f"{name}, {taken[name]}", "a second"), [*rows, ("all", f"{total:,.0f}")])
    return lines


def limit_lines(found: Iterable[Limit]) -> list[str]:
    rows = [
        (row.what, f"{row.at:,.0f} {row.unit}", f"{row.share:.2f}", row.meaning) for row in found
    ]
    return table(("where it stops, first at the top", "at", "used", "what then"), rows)
