"""Which brokers came, went, or came back in another life, by their registrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dataplane.cluster.image import BrokerInfo


class RegistrationChanges(NamedTuple):
    """A bounced broker is both gone and arrived. `renewed`: another one only changed its
    listeners or rack.
    """

    gone: set[int]
    arrived: dict[int, BrokerInfo]
    renewed: bool


def registration_changes(
    before: Mapping[int, BrokerInfo], now: Mapping[int, BrokerInfo]
) -> RegistrationChanges:
    gone = {b for b, info in before.items() if b not in now or now[b].epoch != info.epoch}
    arrived = {b: info for b, info in now.items() if b not in before or b in gone}
    renewed = any(info != before[b] for b, info in now.items() if b not in arrived)
    return RegistrationChanges(gone, arrived, renewed)


def acted_upon(
    registered: Mapping[int, BrokerInfo], known: Mapping[int, int]
) -> dict[int, BrokerInfo]:
    """The registered brokers whose present registration an earlier controller has acted upon.

    `known`: broker epochs by broker. The others were away in between.
    """
    return {b: info for b, info in registered.items() if known.get(b) == info.epoch}
