"""Reads of groups: lists and pages from the observed tables. Plans ask the brokers (`rules`)."""

from typing import Any

from controlplane.common.problems import NotFound
from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import Reader
from controlplane.observed.rows import offset_rows
from controlplane.observed.sections import GROUPS
from controlplane.observed.selectors import Section, reason_alone, shown
from controlplane.observed.services import observed_row


def group_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    """A row of the list; the lag is null while a part of it is not known."""
    return shown(row, at)


def group_detail(reader: Reader, group: str) -> dict[str, Any]:
    """A group with its members and offsets.

    Raises:
        NotFound: the brokers have no such group, or the reader does not see it.
    """
    found = observed_row(reader, GROUPS, group)
    if found is None:
        raise NotFound(f"There is no group {group}.")
    row, at = found
    return {
        **group_row(row, at),
        "stale_reason": reason_alone(row, at),
        "members": row.detail["members"],
        "offsets": offset_rows(row.detail),
    }
