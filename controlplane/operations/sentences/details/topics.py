"""What steps say that change topics, their settings and their records. Pure."""

from collections.abc import Mapping
from typing import Final

TOPICS: Final[Mapping[str, str]] = {
    "topic/gone": "the topic is gone",
    "topic/not-there": "it is not there",
    "topic/others": "somebody else made a topic of this name since",
    "topic/maybe-others": "it may be another's",
    "topic/holds-records": "it holds records",
    "topic/leaderless": "not every partition has a leader",
    "topic/still-deleting": "brokers are still deleting",
    "topic/not-in-metadata": "not in the metadata yet",
    "topic/ready": "{ready} of {partitions} ready",
    "topic/added": "{added:one=# was added|other=# were added}",
    "settings/named": "{settings}",
    "settings/unread": "does not give the settings of {topic}",
    "settings/not-seen": "not seen yet: {settings}",
    "deletion/taken": "the controller took it",
    "deletion/still-listed": "still lists it",
    "deletion/still-held": "still holds {replicas:one=# replica|other=# replicas}",
    "deletion/everywhere": "gone from every broker",
    "deletion/done": "it is deleted",
    "deletion/goes-on": "it is being deleted",
    "deletion/there": "it is there as before",
    "emptying/nothing-left": "nothing is left of them",
    "emptying/asked": ("asked the leaders of {partitions:one=# partition|other=# partitions}"),
    "emptying/begins-there": "every log begins there",
    "emptying/still-holds": "{partition} still holds records before {offset}",
    "emptying/emptied": "{emptied} of {partitions:one=# partition|other=# partitions}",
    "retention/kept": "{kept_ms}",
    "retention/value": "{value}",
    "retention/own-removed": "the topic's own setting is removed",
    "retention/others": (
        "somebody has {value:unknown=removed retention.ms|other=set retention.ms to #} since"
    ),
    "retention/unchanged": "nothing was changed",
}
