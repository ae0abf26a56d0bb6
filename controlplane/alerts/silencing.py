"""Which alerts nobody is told of, for how long. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from controlplane.alerts.conditions.types import Key
from controlplane.alerts.overrides import Match

SILENCE_MAX = timedelta(days=30)
"""From its beginning to its end."""
AHEAD_MAX = timedelta(days=90)
"""How long before it begins a maintenance window may be planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute:
    """A silence: what matches all that it names, from `starts_at` until `ends_at`."""

    id: str
    starts_at: datetime
    ends_at: datetime
    rule: str = ""
    cluster_id: str | None = None
    match: Match = Match.LITERAL
    subject: str = ""

    def mutes(self, key: Key, now: datetime) -> bool:
        if not self.starts_at <= now < self.ends_at:
            return False
        if self.rule and self.rule != key.rule:
            return False
        if self.cluster_id is not None and self.cluster_id != key.cluster_id:
            return False
        if not self.subject:
            return True
        if self.match is Match.LITERAL:
            return key.subject == self.subject
        return key.subject.startswith(self.subject)


def silence_of(mutes: Iterable[Mute], key: Key, now: datetime) -> str:
    """The silence that keeps the alert quiet for the longest; empty: none does."""
    found = [mute for mute in mutes if mute.mutes(key, now)]
    return max(found, key=lambda mute: mute.ends_at).id if found else ""
