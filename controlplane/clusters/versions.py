"""Releases of the broker on hosts, and which of them a cluster may be moved to. Pure.

Brokers of two releases run side by side while both speak the cluster's inter-broker protocol. A
newer release goes on speaking the older protocol until that is raised, which is a decision of its
own (`cluster.finalize_version`): so long any release that knows the protocol may be gone back to.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from controlplane.clusters.reports import object_of, text_of
from controlplane.common.kafka_configs import changes_between, protocol_rank
from controlplane.common.words import counted
from controlplane.operations.sentences import warning_text

OWN: Final = "agent"
"""What a host's agent itself is of: what brokers run that were given no other version."""
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}")
NAME_MAX: Final = 63
PROTOCOL_KEY: Final = "inter.broker.protocol.version"
VERSIONS_MAX: Final = 50
REFUSED_MAX: Final = 20
TEXT_MAX: Final = 200
SOFTWARE_MAX: Final = 50
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release as one host has it; `oldest` to `newest` are the protocols that it speaks."""

    name: str
    software: str
    digest: str
    oldest: str
    newest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What a host's agent says is installed there. Not known of one that never said it."""

    releases: tuple[Release, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    reported_at_ms: int | None = None
    is_known: bool = True

    def release(self, name: str) -> Release | None:
        return next((each for each in self.releases if each.name == name), None)


NOT_KNOWN: Final = Installed(is_known=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A version as it stands with a cluster. `why_not` is None where the brokers may run it."""

    name: str
    release: Release | None
    missing_on: tuple[str, ...] = ()
    unknown_on: tuple[str, ...] = ()
    code: str = ""
    why_not: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """Whether the version of before may be gone back to, and until when."""

    is_open: bool
    code: str
    params: Mapping[str, Any]

    @property
    def text(self) -> str:
        return warning_text(self.code, self.params)


def parse_versions(data: bytes, *, reported_at_ms: int | None) -> Installed:
    """An agent's word; what is no release is left out, and of too many the first are taken."""
    row = object_of(data)
    given = row.get("versions") if row is not None else None
    if row is None or not isinstance(given, list):
        return NOT_KNOWN
    found = [_release(each) for each in given[:VERSIONS_MAX] if isinstance(each, dict)]
    refused = row.get("refused")
    rows = refused.items() if isinstance(refused, dict) else ()
    return Installed(
        releases=tuple(each for each in found if each is not None),
        refused=tuple(
            (text_of({"x": name}, "x")[:NAME_MAX], text_of({"x": why}, "x")[:TEXT_MAX])
            for name, why in list(rows)[:REFUSED_MAX]
        ),
        reported_at_ms=reported_at_ms,
    )


def _release(row: Mapping[str, Any]) -> Release | None:
    name, digest = text_of(dict(row), "name"), text_of(dict(row), "digest")
    oldest, newest = text_of(dict(row), "oldest"), text_of(dict(row), "newest")
    ranks = protocol_rank(oldest), protocol_rank(newest)
    if not NAME.fullmatch(name) or not _DIGEST.fullmatch(digest) or None in ranks:
        return None
    software = text_of(dict(row), "software")[:SOFTWARE_MAX]
    return Release(name=name, software=software, digest=digest, oldest=oldest, newest=newest)


def offer(name: str, hosts: Mapping[str, Installed], protocol: str | None) -> Offer:
    """How a version stands with a cluster whose brokers are on these hosts and speak `protocol`."""
    unknown = tuple(sorted(host for host, found in hosts.items() if not found.is_known))
    if unknown:
        return Offer(
            name=name,
            release=None,
            unknown_on=unknown,
            code="versions-unknown",
            why_not=f"Which versions {_of(unknown, hosts)} have is not known: no agent has said"
            " it.",
        )
    missing = tuple(sorted(host for host, found in hosts.items() if found.release(name) is None))
    if missing:
        why = next((_why(hosts[host], name) for host in missing), "")
        return Offer(
            name=name,
            release=None,
            missing_on=missing,
            code="version-missing",
            why_not=f"Not on {_of(missing, hosts)}{why}.",
        )
    releases = [release for found in hosts.values() if (release := found.release(name))]
    release = releases[0]
    if len({each.digest for each in releases}) > 1:
        return Offer(
            name=name,
            release=None,
            code="version-differs",
            why_not="Hosts have different contents under this name.",
        )
    code, why_not = _unfit(release, protocol)
    return Offer(name=name, release=release, code=code, why_not=why_not)


def offers(hosts: Mapping[str, Installed], protocol: str | None) -> list[Offer]:
    """Every version that some host of the cluster has, the agents' own first."""
    names = {each.name for found in hosts.values() for each in found.releases}
    names |= {name for found in hosts.values() for name, _ in found.refused if NAME.fullmatch(name)}
    return [offer(name, hosts, protocol) for name in sorted(names, key=_own_first)]


def _own_first(name: str) -> tuple[bool, str]:
    return name != OWN, name


def _why(found: Installed, name: str) -> str:
    said = dict(found.refused).get(name)
    return f": {said}" if said else ""


def _unfit(release: Release, protocol: str | None) -> tuple[str, str | None]:
    rank = protocol_rank(protocol or "")
    low, high = protocol_rank(release.oldest), protocol_rank(release.newest)
    if rank is None or low is None or high is None:
        return "protocol-unknown", "What the brokers speak to each other is not known."
    if rank > high:
        text = (
            f"The brokers speak {protocol} to each other, of which it knows no more than"
            f" {release.newest}: after that was raised there is no way back to it."
        )
        return "version-too-old", text
    if rank < low:
        text = (
            f"The brokers speak {protocol} to each other, which it does not know any more; it"
            f" begins at {release.oldest}. Go by a version in between."
        )
        return "version-too-new", text
    return "", None


def way_back(before: Offer, after: Release, protocol: str) -> WayBack:
    """Whether brokers can go back from `after` to the version of `before`, while the cluster speaks
    `protocol`.
    """
    if before.release is None or before.why_not is not None:
        why = {"reason": before.why_not} if before.why_not else {}
        code = "no-way-back" if why else "no-way-back/gone"
        return WayBack(is_open=False, code=code, params={"before": before.name, **why})
    raised = protocol_rank(after.newest) or 0
    if raised <= (protocol_rank(before.release.newest) or 0):
        return WayBack(
            is_open=True,
            code="way-back/any-time",
            params={"before": before.name, "after": after.name},
        )
    return WayBack(
        is_open=True,
        code="way-back/until-raised",
        params={"before": before.name, "protocol": protocol},
    )


def raised_to(release: Release, protocol: str) -> str | None:
    """The newest protocol of a release, where that is later than the present one."""
    now, newest = protocol_rank(protocol), protocol_rank(release.newest)
    return None if now is None or newest is None or newest <= now else release.newest


def changes(before: str, after: str) -> list[str]:
    """What is new in a later protocol, a sentence each."""
    return changes_between(before, after)


def one_of(said: list[str | None]) -> str | None:
    """What all say; None where they differ, one does not say it, or nobody is there."""
    found = set(said)
    return found.pop() if len(found) == 1 else None


def _of(some: tuple[str, ...], hosts: Mapping[str, Installed]) -> str:
    """Tenants read it, to whom hosts have no names."""
    return f"{len(some)} of the {counted(len(hosts), 'host')} of its brokers"
