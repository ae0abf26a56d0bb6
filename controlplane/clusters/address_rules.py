"""Which brokers are to advertise another address, because their host's agent has one. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a broker advertises, and on which host it is."""

    broker: int
    host_id: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The address that a host's agent gives, and whether it lives: only then it serves there."""

    address: str
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressChange:
    broker: int
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """`unheard`: brokers whose host's agent is away: where it will serve is not known."""

    moving: tuple[AddressChange, ...]
    unheard: tuple[int, ...]


def changes_of(places: Iterable[Place], hosts: Mapping[str, Serving]) -> Changes:
    """In the order of `places`."""
    moving, unheard = [], []
    for place in places:
        serving = hosts.get(place.host_id)
        if serving is None or not serving.is_alive:
            unheard.append(place.broker)
        elif serving.address != place.address:
            moving.append(
                AddressChange(broker=place.broker, before=place.address, after=serving.address)
            )
    return Changes(moving=tuple(moving), unheard=tuple(unheard))


def renamed(servers: str, before: tuple[str, int], after: tuple[str, int]) -> str:
    """The cluster's addresses with one of a broker's renamed; one that is not among them stays
    out: the cluster's own choice of addresses is kept.
    """
    old, new = f"{before[0]}:{before[1]}", f"{after[0]}:{after[1]}"
    return ",".join(dict.fromkeys(new if each == old else each for each in servers.split(",")))
