"""What steps say that create, register, grow, shrink and delete clusters."""

from collections.abc import Mapping
from typing import Final

_BROKERS = "{brokers:one=# broker|other=# brokers}"
_TOPICS = "{topics:one=# topic|other=# topics}"

CLUSTERS: Final[Mapping[str, str]] = {
    "step/as-planned": "as planned",
    # -- what agents and processes say
    "hosts/to-be": f"{_BROKERS} {{state}}",
    "process/so-far": "{running} of {brokers} processes run",
    "process/all": "all broker processes run",
    "process/one": "the broker process runs",
    "process/gone": "processes and data are gone",
    "process/still-there": "still there: {brokers}",
    "agent/says": "its agent says: {state:unknown=nothing yet}",
    "report/earlier": ("The last report is of generation {generation}; {wanted} is desired."),
    "report/never-desired": (
        "A report of generation {generation}, which was never desired, is ignored."
    ),
    "host/no-key": ("host {hosts} has no key of its own; `manage.py secrets host-key` makes it"),
    "zookeeper/away": "ZooKeeper does not answer.",
    "host/away": "The host of broker {broker} is away.",
    "host/owes": (
        "{hosts:one=# host is away: what it has of the cluster is deleted when it is back|"
        "other=# hosts are away: what they have of the cluster is deleted when they are back}"
    ),
    # -- what the cluster says
    "register/no-answer": "no answer yet: {reason}",
    "register/all": "every broker has registered",
    "register/one": "the broker has registered",
    "register/waiting": "waiting for {brokers}",
    "register/new": "every new broker has registered",
    "register/again": "they are in the cluster again",
    "register/missing": "broker {broker} is not registered",
    "cluster/no-controller": "no controller elected yet",
    "cluster/controller": "controller is broker {broker}",
    "cluster/answering": f"{_BROKERS} answering",
    "cluster/topics": _TOPICS,
    "cluster/credentials-forgotten": "the earlier credentials are forgotten",
    # -- what goes
    "cluster/owed-in-zookeeper": f"in ZooKeeper stands only that {_BROKERS} shall be deleted",
    "cluster/no-trace": "no trace in ZooKeeper",
    "cluster/runs-on": "it runs on without Penstock",
    "own-topic/shared": "{topic} stays: another registration of this Kafka writes to it",
    "own-topic/may-stay": "{topic} may stay there ({error})",
    "own-topic/not-there": "{topic} is not there",
    "own-topic/removed": "{topic} removed",
    # -- more and fewer brokers
    "scale/to-run": f"{_BROKERS} to run",
    "scale/to-run-again": f"{_BROKERS} to run again",
    "scale/to-delete": f"{_BROKERS} to be deleted",
    "scale/answer": "{brokers:one=the new broker answers|other=# new brokers answer}",
    "scale/holds-replicas": "a broker that holds replicas stays",
    "scale/may-go": "they hold no replicas, and enough brokers stay",
    "scale/all-run": "all of them run",
    "scale/stopped-of": f"{_BROKERS} stopped",
    "scale/to-stop": "broker {broker} is to stop",
    "scale/stopped": "broker {broker} has stopped",
    "scale/still-registered": "broker {broker} is still registered",
    "scale/stopping": "broker {broker} is stopping",
    "scale/still-registered/itself": "is still registered",
    "scale/has-replica": "{broker} has a replica there",
    "scale/no-replica": "no broker knows of a replica there",
    "scale/owed": f"{_BROKERS} of hosts that are away shall be deleted there",
    "scale/forgotten": "nothing is desired of them any more",
}
