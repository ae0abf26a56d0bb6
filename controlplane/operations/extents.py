"""What plans count of what they hit: each measure by its code, and what it is called in English.

The code is what others go by: a console in another language has its own phrase for it, and a test
holds its catalogue to this table.
"""

from collections.abc import Mapping
from typing import Final

TITLES: Final[Mapping[str, str]] = {
    "records": "records",
    "records-held": "records it holds, the most that can go",
    "records-unread": "records that this group has not read",
    "bytes": "bytes",
    "bytes-at-most": "bytes, at most",
    "bytes-held": "bytes it holds",
    "bytes-to-copy": "bytes to copy",
    "topics": "topics",
    "topics-own": "topics of the service itself",
    "topics-offline": "topics with partitions that nobody else serves",
    "topics-offline-in-turn": (
        "topics with partitions that nobody else serves while their broker is away"
    ),
    "topics-unwritable": "topics with partitions that refuse acks=all meanwhile",
    "topics-unwritable-in-turn": (
        "topics with partitions that refuse acks=all while a broker is away"
    ),
    "groups": "groups",
    "groups-active": "groups reading right now",
    "groups-reading": "groups that read it",
    "groups-reading-now": "groups reading it right now",
    "groups-losing": "groups that lose unread records",
    "users": "users",
    "acls-covering": "ACLs that cover it",
    "access-lost": "rights that nothing else grants",
}
CODES: Final = tuple(TITLES)
