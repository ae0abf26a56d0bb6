"""What a section's rows are, as a text that is another one as soon as any of them differs.

It stands beside the section's times and is written in the transaction that writes the rows, so that
a reader who knows it need not read them to know that they are the same. It is drawn, not counted:
after a database was restored no number means something else than it did.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from controlplane.common.times import iso

REVISION, TOUCHED = "revision", "touched_at"
"""Of a section, beside how it was read; without the first nobody has counted yet."""
TIMES = frozenset({"as_of", "tried_at", REVISION, TOUCHED})
BYTES = 9


def new_revision() -> str:
    return secrets.token_urlsafe(BYTES)


def revised(
    before: Mapping[str, Any], now: Mapping[str, Any], *, has_changed: bool, read_at: datetime
) -> dict[str, Any]:
    """A section as it was just noted, with its revision: the same while nothing but times differs.

    A row that an operation's end has read is as of that moment until a later pass has read all,
    and then as of that one: the pass changes what it says without writing it.
    """
    touched_at, known = before.get(TOUCHED), before.get(REVISION)
    is_other = has_changed or touched_at or _without_times(before) != _without_times(now)
    found = {**now, REVISION: known if known and not is_other else new_revision()}
    if touched_at and datetime.fromisoformat(touched_at) > read_at:
        found[TOUCHED] = touched_at
    return found


def touched(section: Mapping[str, Any], read_at: datetime) -> dict[str, Any]:
    """The section once single rows of it were read."""
    return {**section, REVISION: new_revision(), TOUCHED: iso(read_at)}


def _without_times(section: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in section.items() if name not in TIMES}
