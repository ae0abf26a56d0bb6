"""What steps say that move replicas, limit that, or elect leaders. Pure."""

from collections.abc import Mapping
from typing import Final

_BROKERS = "{count:one=broker|other=brokers} {brokers}"
_TOPICS = "{topics:one=# topic|other=# topics}"
# Some are named, of the others it says how many.
_NAMED = "{names}{more:none=|other= and # more}"

REASSIGNMENTS: Final[Mapping[str, str]] = {
    "moves/unchanged": "nothing is moved",
    "moves/there": "{there} of {moves:one=# partition is|other=# partitions are} there",
    "moves/differs": "what one broker says differs; asked again",
    "moves/waiting": f"waiting for {_BROKERS}, not up",
    "moves/refused": "refused, asked again: {reason}",
    "moves/others": f"where somebody else has moved it: {_NAMED}",
    "moves/gone": f"gone with its topic: {_NAMED}",
    "moves/stopping": "stopping {moves:one=# move|other=# moves}",
    "moves/none-any-more": "nothing moves any more",
    "moves/on-old": f"on the old brokers: {_NAMED}",
    "moves/on-new": f"stays on the new brokers: {_NAMED}",
    "moves/on-new-for-now": f"on the new brokers, to be moved back: {_NAMED}",
    "moves/back": ("{partitions:one=# partition|other=# partitions} on the brokers of before"),
    "moves/agreed": "every broker and its log directories agree with the plan",
    "moves/as-they-were": "every broker has the replicas where they were",
    "moves/elsewhere": "{partition} is elsewhere",
    "moves/not-assigned": "{partition} is not assigned as planned",
    "moves/not-in-sync": "{partition} is not in sync everywhere",
    "moves/missing-here": "{partition} is missing here",
    "moves/still-here": "{partition} is still here",
    "limit/not-asked": "no limit was asked for",
    "limit/per-broker": "{limit_bytes_per_s} per broker",
    "limit/set-on-brokers": f"limit set on {_BROKERS}",
    "limit/set-on-topics": f"limit set on {_TOPICS}",
    "limit/set-on-both": f"limit set on {_BROKERS} and {_TOPICS}",
    "limit/unknown": f"unknown whether the limit is on {_BROKERS}",
    "limit/none": "no limit was set",
    "limit/removed": f"removed from {{brokers:one=# broker|other=# brokers}} and {_TOPICS}",
    "limit/removed-but": (
        f"removed; {_BROKERS} {{count:one=is away, its rate is removed when it returns"
        "|other=are away, their rate is removed when they return}"
    ),
    "elected/so-far": "{done} of {partitions} elected",
    "elected/all": "{partitions:one=# partition|other=# partitions} elected",
    "elected/agreed": ("every broker names {leaders:one=# leader|other=# leaders} as planned"),
    "elected/differ": "{partition} {more:none=differs|other=and # more differ}",
}
