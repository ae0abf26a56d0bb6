"""Rules about hosts: silent, short of disk, memory, CPU or ports, certificates. Pure.

Of a host that was declared lost, or leaves with nothing on it, nobody is told: that was decided.
"""

from collections.abc import Iterator
from datetime import datetime

from controlplane.alerts.conditions.types import (
    MEMBERS_SHOWN,
    Condition,
    Key,
    Unknown,
    Value,
    Verdict,
    named,
    span,
)
from controlplane.alerts.fact_types import HostFact, OperatorFacts
from controlplane.alerts.host_rules import EVERY_BY_ID
from controlplane.alerts.overrides import Setting, Tuning
from controlplane.alerts.rules import Rule, Severity
from controlplane.clusters.capacity import MAIN, DirectoryRoom
from controlplane.clusters.host_states import ACTIVE, LOST
from controlplane.clusters.placing import STALE_S
from controlplane.common.words import counted

AWAY = EVERY_BY_ID["host-registry-away"]
SILENT = EVERY_BY_ID["host-silent"]
DISK = EVERY_BY_ID["host-disk-filling"]
LOW = EVERY_BY_ID["host-resources-low"]
CERTIFICATE = EVERY_BY_ID["host-certificate-ending"]
OF_REPORTS = (SILENT.id, DISK.id, LOW.id)
"""What only agents can say, through ZooKeeper."""


def subject_of(host_id: str) -> str:
    return f"host/{host_id}"


def judge(facts: OperatorFacts, tuning: Tuning, now: datetime) -> Verdict:
    """What holds of the operators' hosts, and what is not known."""
    found = Verdict()
    _certificates(found, facts, tuning, now)
    if facts.hosts is None:
        found.holds.append(_registry_away(facts))
        found.unknown_at("", facts.unknown_because or "ZooKeeper does not answer", *OF_REPORTS)
        return found
    _silent(found, [host for host in facts.hosts if not host.alive and _is_wanted(host)])
    for host in facts.hosts:
        if not _is_wanted(host):
            continue
        why = _not_reported(host)
        if why:
            found.unknown += [
                Unknown(rule, "", subject_of(host.id), why) for rule in OF_REPORTS[1:]
            ]
            continue
        _disk(found, host, tuning.of(DISK.id))
        _resources(found, host, tuning.of(LOW.id))
    return found


def _is_wanted(host: HostFact) -> bool:
    return host.state != LOST and (host.state == ACTIVE or host.brokers > 0)


def _not_reported(host: HostFact) -> str:
    """Why nothing is known of what it has left; empty where something is."""
    if not host.alive:
        return "its agent is away"
    if host.capacity.problem or host.capacity_age_s is None:
        return host.capacity.problem or "it has reported no capacity"
    if host.capacity_age_s > STALE_S:
        return f"its report is {span(host.capacity_age_s)} old"
    return ""


def _holds(
    rule: Rule, host_id: str, severity: Severity, summary: str, **values: Value
) -> Condition:
    return Condition(
        key=Key(rule.id, "", subject_of(host_id)),
        severity=severity,
        summary=f"{host_id}: {summary}",
        values=values,
        unit="hosts",
    )


def _registry_away(facts: OperatorFacts) -> Condition:
    because = f": {facts.unknown_because}" if facts.unknown_because else ""
    return Condition(
        key=Key(AWAY.id),
        severity=AWAY.severity,
        summary="ZooKeeper does not answer the control plane: which hosts are silent or full is not"
        f" known{because}.",
    )


def _silent(found: Verdict, silent: list[HostFact]) -> None:
    """Several with brokers at once are critical: it may be a cut, in which nothing heals itself."""
    is_critical = sum(host.brokers > 0 for host in silent) > 1
    for host in silent:
        severity = Severity.CRITICAL if is_critical and host.brokers else SILENT.severity
        runs = counted(host.brokers, "broker is to run", "brokers are to run")
        rest = f"{runs} there" if host.brokers else "no broker is there"
        others = "; other hosts are silent too" if severity is Severity.CRITICAL else ""
        found.holds.append(
            _holds(
                SILENT,
                host.id,
                severity,
                f"its agent is not heard; {rest}{others}.",
                brokers=host.brokers,
            )
        )


def _directories(host: HostFact) -> list[DirectoryRoom]:
    """One a file system: directories that share it fill up together."""
    rooms: dict[str, DirectoryRoom] = {}
    for each in host.capacity.directories:
        rooms.setdefault(each.volume or each.name, each)
    if rooms:
        return list(rooms.values())
    total, free = host.capacity.disk_total_bytes, host.capacity.disk_free_bytes
    return [DirectoryRoom(name=MAIN, total_bytes=total, free_bytes=free)]


def _disk(found: Verdict, host: HostFact, setting: Setting) -> None:
    used: dict[str, float] = {}
    unknown: list[str] = []
    for each in _directories(host):
        if not each.total_bytes or each.free_bytes is None:
            unknown.append(each.name)
        else:
            used[each.name] = 1 - each.free_bytes / each.total_bytes
    full = {name: share for name, share in used.items() if share >= setting.number("used_share")}
    if full:
        worst = max(full.values())
        is_critical = worst >= setting.number("critical_share")
        parts = [f"{name} {share:.0%}" for name, share in sorted(full.items(), key=_by_share)]
        condition = _holds(
            DISK,
            host.id,
            Severity.CRITICAL if is_critical else DISK.severity,
            f"data directories are full to {named(parts, len(parts))}.",
            used_share=round(worst, 3),
        )
        found.holds.append(condition)
    elif unknown:
        why = f"nothing is known of {named(unknown, len(unknown))}"
        found.unknown.append(Unknown(DISK.id, "", subject_of(host.id), why))


def _by_share(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]


def _resources(found: Verdict, host: HostFact, setting: Setting) -> None:
    low, unknown = [], []
    values: dict[str, Value] = {}
    for name, value, text in _left(host, setting):
        if value is None:
            unknown.append(name)
            continue
        values[name] = value
        if text:
            low.append(text)
    if low:
        summary = f"{', '.join(low)}."
        found.holds.append(_holds(LOW, host.id, LOW.severity, summary, **values))
    elif unknown:
        why = f"it does not say its {named(unknown, len(unknown))}"
        found.unknown.append(Unknown(LOW.id, "", subject_of(host.id), why))


def _left(host: HostFact, setting: Setting) -> Iterator[tuple[str, float | None, str]]:
    """(what, how much, what is said when that is little); ports only where new brokers may come."""
    room = host.capacity
    share = None
    if room.memory_total_bytes and room.memory_free_bytes is not None:
        share = round(room.memory_free_bytes / room.memory_total_bytes, 3)
    is_low = share is not None and share < setting.number("memory_share")
    yield "memory_share", share, f"{share:.0%} of its memory is left" if is_low else ""
    load = room.load_per_core
    load = None if load is None else round(load, 2)
    is_low = load is not None and load >= setting.number("load_per_core")
    yield "load_per_core", load, f"its load is {load} a core" if is_low else ""
    if host.state == ACTIVE:
        ports = host.ports_free
        is_low = ports is not None and ports < setting.number("ports")
        free = "" if ports is None else counted(ports, "port is free", "ports are free")
        yield "ports", ports, f"{free} for new brokers" if is_low else ""


def _certificates(found: Verdict, facts: OperatorFacts, tuning: Tuning, now: datetime) -> None:
    setting = tuning.of(CERTIFICATE.id)
    for host_id, ends in sorted(facts.certificates.items()):
        left = {key: (ends_at - now).total_seconds() for key, ends_at in ends}
        ending = {key: left_s for key, left_s in left.items() if left_s <= setting.number("left_s")}
        if not ending:
            continue
        first_s = min(ending.values())
        is_critical = first_s <= setting.number("critical_s")
        when = "has ended" if first_s <= 0 else f"ends in {span(first_s)}"
        keys = tuple(sorted(ending, key=lambda each: (ending[each], each)))
        found.holds.append(
            Condition(
                key=Key(CERTIFICATE.id, "", subject_of(host_id)),
                severity=Severity.CRITICAL if is_critical else CERTIFICATE.severity,
                summary=f"{host_id}: the first certificate {when}; {named(keys, len(keys))}.",
                values={"left_s": round(first_s)},
                members=keys[:MEMBERS_SHOWN],
                count=len(keys),
                unit="brokers",
            )
        )
