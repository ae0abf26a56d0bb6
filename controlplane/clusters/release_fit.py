"""Whether a host has the release that a cluster's broker is to run, and if not, why. Pure.

A version is a directory of a host: an agent that was given another one can only report that it
cannot start it, minutes after the place was chosen. What a host runs by itself (`OWN`) it always
has, also where its agent is too old to say so; but brokers that were not told which protocol to
speak to each other speak the newest of their release, so that another one has to have the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from controlplane.clusters.placing_sentences import lack_of
from controlplane.clusters.versions import OWN, Installed, Release, one_of
from controlplane.common.kafka_configs import protocol_rank
from controlplane.common.said import Said

NO_VERSION: Final = "no-version"
"""What its sentences are about: it is not there; the agent has not said; other contents; another
protocol."""
VERSIONS_UNKNOWN: Final = "versions-unknown"
VERSION_DIFFERS: Final = "version-differs"
PROTOCOL_DIFFERS: Final = "protocol-differs"
CODES: Final = frozenset({NO_VERSION, VERSIONS_UNKNOWN, VERSION_DIFFERS, PROTOCOL_DIFFERS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a broker that is to be placed shall run.

    Attributes:
        name: the version.
        digest: what its directory holds where the cluster's brokers are; empty: anything.
        protocol: what the brokers speak to each other, as it was written down; empty: it was not.
        newest: the newest protocol of the release of those that are there; empty: not known. It
            counts where none was written down.
    """

    name: str = OWN
    digest: str = ""
    protocol: str = ""
    newest: str = ""


ANY: Final = Wanted()
"""Of a new cluster: whatever the hosts' agents are of."""


def wanted(name: str, protocol: str, present: Iterable[Installed]) -> Wanted:
    """What another broker of a cluster shall run, whose brokers are on the hosts of `present`.

    Agents are brought to another release one by one, so that of `OWN` no two need be alike; and
    where hosts differ under any other name, none of them says which is meant.
    """
    there = [found for host in present if (found := host.release(name)) is not None]
    digest = one_of([each.digest for each in there]) if name != OWN else None
    newest = one_of([each.newest for each in there])
    return Wanted(name=name, digest=digest or "", protocol=protocol, newest=newest or "")


def lack(installed: Installed, wanted: Wanted) -> Said | None:
    """What a host lacks for it; null where it has it."""
    name = wanted.name
    if not installed.is_known:
        if name == OWN and not wanted.protocol:
            return None  # an agent of before there were versions
        return lack_of(VERSIONS_UNKNOWN, version=name)
    release = installed.release(name)
    if release is None and name == OWN and not wanted.protocol:
        return None  # it is there, and speaks what this service has not heard of
    if release is None:
        return _missing(name, dict(installed.refused).get(name))
    if wanted.digest and release.digest != wanted.digest:
        return lack_of(VERSION_DIFFERS, version=name)
    return _foreign(release, wanted)


def _missing(version: str, reason: str | None) -> Said:
    if not reason:
        return lack_of(NO_VERSION, version=version)
    return lack_of(f"{NO_VERSION}/because", version=version, reason=reason.rstrip("."))


def _foreign(release: Release, wanted: Wanted) -> Said | None:
    version = {"version": wanted.name, "newest": release.newest}
    if wanted.protocol:
        if _speaks(release.oldest, release.newest, wanted.protocol):
            return None
        spoken = {"oldest": release.oldest, "protocol": wanted.protocol}
        return lack_of(f"{PROTOCOL_DIFFERS}/range", **version, **spoken)
    if wanted.newest in ("", release.newest):
        return None
    return lack_of(f"{PROTOCOL_DIFFERS}/newest", **version, protocol=wanted.newest)


def unlike(installed: Iterable[Installed]) -> list[str]:
    """The protocols that brokers of `OWN` would speak on these hosts, where they are several."""
    own = (found.release(OWN) for found in installed)
    newest = {release.newest for release in own if release is not None}
    return sorted(newest, key=lambda name: protocol_rank(name) or 0) if len(newest) > 1 else []


def _speaks(oldest: str, newest: str, protocol: str) -> bool:
    rank = protocol_rank(protocol)
    low, high = protocol_rank(oldest), protocol_rank(newest)
    return None not in (rank, low, high) and low <= rank <= high  # type: ignore[operator] # asked
