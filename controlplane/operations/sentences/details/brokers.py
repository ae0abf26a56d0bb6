"""What steps say that put a broker on another host, or change where it keeps its logs."""

from collections.abc import Mapping
from typing import Final

_PARTITIONS = "{partitions:one=# partition|other=# partitions}"
_BROKERS = "{brokers:one=# broker|other=# brokers}"
_REPLICAS = "{replicas:one=# replica|other=# replicas}"
_NAMED = "({names}{more:none=|other= and # more})"

BROKERS: Final[Mapping[str, str]] = {
    "obstacle/agent-away": (
        "broker {broker} is up and the agent of its host is away, so nobody can stop it there"
    ),
    "obstacle/partitions-lost": (
        f"no other broker has {_PARTITIONS} of broker {{broker}} in sync {_NAMED}: what is in them"
        " would be lost"
    ),
    "obstacle/broker-up": "broker {broker} is up",
    # -- away from where it is
    "replace/lost": "what is left of broker {broker} there never serves again",
    "replace/ended": "its process has ended",
    "replace/fenced": "its log directories are fenced",
    "replace/still-counted": f"{_PARTITIONS} still count it {_NAMED}",
    "replace/not-counted": "no partition counts it any more",
    # -- to where it goes
    "replace/moved": "another host is to have it",
    "replace/limit-stands": "the limit stands",
    "replace/to-start": "broker {broker} is to start with an empty directory",
    "replace/leads": "it leads what prefers it",
    "replace/led-by-others": f"{_PARTITIONS} are led by others still",
    "replace/leaders": f"{_PARTITIONS} to go",
    "replace/deleted-later": "what is left there is deleted when that host is back",
    "replace/deleted": "the host that it left deletes what it had",
    "replace/counted-in": "every broker counts it in again",
    "replace/in-sync-of": "{in_sync} of {replicas} replicas in sync",
    # -- the way back
    "replace/stays-in-sync": "it is in sync at its new place and stays there",
    "replace/stays": "it goes on at its new place",
    "replace/stays-lost": "its host is away; it stays lost",
    "replace/not-stopped": "it was not stopped",
    "replace/where-it-was": "it runs where it was",
    "replace/alone": f"it alone has {_PARTITIONS} in sync {_NAMED}",
    # -- log directories
    "directory/no-limit": "no limit",
    "directory/limit": f"{{limit_bytes_per_s}} on {_BROKERS}",
    "directory/limits-noted": "what brokers had is noted",
    "directory/broker-away": "broker {broker} is away",
    "directory/limit-lifted": f"as before on {_BROKERS}",
    "directory/empty": "nothing lies in {directory}",
    "directory/to-go": f"{_REPLICAS} to go",
    "directory/moves-ended": (
        "{moves:none=no move was under way|one=# move ended|other=# moves ended}"
    ),
    "directory/not-moved": "broker {broker} does not move {partition}: {error}",
    "directory/came-meanwhile": (
        f"{_REPLICAS} came into {{directory}} of broker {{broker}} meanwhile; moved first"
    ),
    "directory/kept": "the brokers keep the directory",
    "directory/still-there": "broker {broker} still has {directory}",
    "directory/replicas-there": f"{_REPLICAS} in {{directory}} of broker {{broker}}",
    "directory/no-replicas": f"{{directory}} has no replicas: {_BROKERS}",
    "directory/unused": f"{{directory}} is used by none of them: {_BROKERS}",
    "directory/not-named": "broker {broker} does not name {directory} yet",
    "directory/usable": f"{_BROKERS} can use {{directory}}",
}
