"""What an operation leaves that failed or was cancelled, and why. Pure.

Whole sentences: another one stands behind them after a space.
"""

from collections.abc import Mapping
from typing import Final

_PARTITIONS = "{partitions:one=# partition|other=# partitions}"
_BROKERS = "{brokers:one=# broker|other=# brokers}"
_NAMED = "{count:one=broker|other=brokers} {brokers}"

REMAINS: Final[Mapping[str, str]] = {
    # -- what a restoring step did not bring back; both steps by the codes of their titles
    "remains/may-stay": "What “{did_step}” did may stay: “{back_step}” was not run.",
    "remains/may-stay/failed": (
        "What “{did_step}” did may stay: “{back_step}” failed{reason:unknown=|other= (#)}."
    ),
    # -- topics and their records
    "remains/topic-somebodys": (
        "There is a topic {topic}, which this operation or somebody else made."
    ),
    "remains/topic-written": (
        "The topic {topic} stays: it was made, and records have been written to it."
    ),
    "remains/topic-maybe-written": ("The topic {topic} stays: it was made, and may hold records."),
    "remains/partitions-added": (
        f"{{topic}} has {_PARTITIONS} now, {{before}} before: partitions can be added, never"
        " removed."
    ),
    "remains/partitions": "Partitions that were added stay: nothing removes them.",
    "remains/topic-deleted": (
        "The topic {topic} is deleted, with its records: the records are gone with the topic."
    ),
    "remains/topic-being-deleted": (
        "The controller took the deletion of {topic}: it goes on, and is not stopped."
    ),
    "remains/topic-deletion": "A topic whose deletion the controller took does not come back.",
    "remains/records-of": (
        f"Records of {_PARTITIONS} of {{topic}} are deleted: records that are deleted do not come"
        " back."
    ),
    "remains/records": "Records that were deleted do not come back.",
    "remains/retention": (
        "The retention may be back although not every broker said so; the lease's end is tried"
        " again."
    ),
    # -- groups
    "remains/commit-gone": (f"The commit of {{group}} in {_PARTITIONS} went with the topic."),
    "remains/offsets": (
        f"The offsets of {{group}} in {_PARTITIONS} stay where this operation took them: the group"
        " has members again."
    ),
    # -- users
    "remains/login-of": (
        "The login of {username} by {mechanisms} is deleted, and its password is not known: it"
        " stays so. Its rules are there as before."
    ),
    "remains/login": "A login that was deleted does not come back: its password is not known.",
    "remains/password-new": (
        "The new password is not shown. Without an overlap the old one may be refused now, with one"
        " the new one may stand beside it: give the user a new password once more."
    ),
    "remains/password-old": "The old password of {username} is gone, so the new one stays.",
    "remains/password-removed": (
        "A password that was removed does not come back: it is not known."
    ),
    # -- clusters and brokers
    "remains/cluster-failed": (
        "Where its brokers cannot be removed the cluster stays, as FAILED: delete it to remove"
        " them."
    ),
    "remains/cluster-deleted": (
        "What was stopped and deleted does not come back. The cluster stays, as FAILED: delete it"
        " once more."
    ),
    "remains/credentials": (
        "The new credentials may be in use; the earlier ones are forgotten then."
    ),
    "remains/broker-restarting": "The broker stays as it is: its agent goes on starting it.",
    "remains/broker-holds-replicas": ("Broker {broker} stays: replicas were put on it meanwhile."),
    "remains/brokers-added": (
        "A new broker that could not be taken away stays one of the cluster: a plan that removes it"
        " takes it away."
    ),
    "remains/brokers-stopped": (
        "Brokers that were stopped and did not start again stay in the list of the cluster's"
        " brokers: remove them once more."
    ),
    "remains/replaced": (
        "A broker whose host is away stays lost until it is put elsewhere; one that has begun at"
        " its new place goes on there."
    ),
    "remains/replaced/reads": "It goes on reading what it lacks, without a limit.",
    "remains/replaced/leaders": "Who leads a partition meanwhile goes on leading it.",
    "remains/replaced/in-sync": "The broker is in sync at its new place and stays there.",
    "remains/broker-in-sync": ("Broker {broker}: it is in sync at its new place and stays there."),
    "remains/broker-goes-on": "Broker {broker}: it goes on at its new place.",
    "remains/broker-lost": "Broker {broker}: its host is away; it stays lost.",
    # -- who was restarted and who was not
    "remains/restarted": f"Restarted: {_NAMED}.",
    "remains/restart-failed": f"Failed: {_NAMED}.",
    "remains/not-restarted": f"Not restarted: {_NAMED}.",
    "remains/roll": (
        "Brokers that were restarted by then have the new process; the others have the one of"
        " before."
    ),
    "remains/addresses": (
        "Brokers that were restarted by then advertise the new address, the others the one of"
        " before; clients and brokers follow both."
    ),
    "remains/addresses-put-back": f"{_BROKERS} put back to the address of before.",
    "remains/connect": (
        "Brokers that were restarted by then use the new connect string, the others the one of"
        " before; both lead to the same ensemble while its members of before are in it."
    ),
    "remains/connect-put-back": f"{_BROKERS} put back to the connect string of before.",
    "remains/settings": (
        "Settings that were changed by then stay changed: the undo puts them back."
    ),
    "remains/versions": (
        "Brokers that were restarted by then run the new version, the others the one of before:"
        " both speak the protocol of before. The undo takes all back."
    ),
    "remains/version-new": "Every broker runs the new version. The undo takes all back.",
    "remains/protocol-pinned": "The protocol that the brokers speak stays written down.",
    "remains/protocol-raised": (
        "Brokers that were restarted by then speak the new protocol, the others do at their next"
        " restart: each understands both."
    ),
    # -- log directories
    "remains/directory-added": (
        "Brokers that were restarted by then have the directory, the others do not. The undo takes"
        " it away from those again."
    ),
    "remains/directory-removed": (
        "Brokers that were restarted by then do not use the directory any more, the others do."
    ),
    "remains/replicas-arrived": "Replicas that had arrived in other directories stay there.",
    # -- moves
    "remains/moves": (
        "Partitions that had arrived on their new brokers stay there; moves under way are stopped."
    ),
    "remains/leaders": (
        "Leaders that were elected by then lead on: no data was moved, and each is a replica in"
        " sync."
    ),
}
