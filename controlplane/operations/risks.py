"""What a plan may cost that does not come back by itself.

A plan with a risk is confirmed only with the name of what it is about, typed. Warnings declare
their risk where they are made, kinds those that all their plans have. Pure.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Risk(StrEnum):
    LOSES_DATA = "loses-data"
    LOSES_ACCESS = "loses-access"
    OPENS_ACCESS = "opens-access"
    SKIPS_RECORDS = "skips-records"
    FILLS_DISK = "fills-disk"


STAYS = {
    Risk.LOSES_DATA: "Records that are deleted before the undo do not come back.",
    Risk.LOSES_ACCESS: "What clients were refused before the undo stays undone.",
    Risk.OPENS_ACCESS: "What was read or changed before the undo stays so.",
    Risk.SKIPS_RECORDS: (
        "What consumers read or skip before the undo stays so, and records that expire before it"
        " are gone."
    ),
    Risk.FILLS_DISK: "What a full disk has refused or lost before the undo stays so.",
}
"""What undoing does not put right: it restores the setting, not what came of it."""

RISK_CHOICES = [(risk.value, risk.value) for risk in Risk]


def risks_of(kinds_own: Iterable[Risk], warnings: Iterable[Mapping[str, str]]) -> list[Risk]:
    """All risks of a plan, in the order of their declaration."""
    found = {*kinds_own, *(row["risk"] for row in warnings if "risk" in row)}
    return [risk for risk in Risk if risk in found]
