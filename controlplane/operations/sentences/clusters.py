"""Warnings about clusters as they are made, registered, changed and let go."""

from collections.abc import Mapping
from typing import Final

_TOO_FEW = "no partition has the {least:one=# replica|other=# replicas} in sync that writes want."
_OFFLINE = "partitions that have all their replicas there are offline."
_UNWRITABLE = "partitions that have {together} of {replicas} replicas there cannot be written."
_HOST = "One host gets {lost} of {brokers} brokers: while it is away"
_RACK = "Rack {rack} gets {lost} of {brokers} brokers: while it is away"

CLUSTERS: Final[Mapping[str, str]] = {
    "one-host": "All brokers share one host: they fail with it.",
    "shared-host/too-few": f"{_HOST} {_TOO_FEW}",
    "shared-host/offline": f"{_HOST} {_OFFLINE}",
    "shared-host/unwritable": f"{_HOST} {_UNWRITABLE}",
    "one-rack": "All brokers share one rack: it can fail as a whole.",
    "shared-rack/too-few": f"{_RACK} {_TOO_FEW}",
    "shared-rack/offline": f"{_RACK} {_OFFLINE}",
    "shared-rack/unwritable": f"{_RACK} {_UNWRITABLE}",
    "too-few-brokers": (
        "{key} {replicas} with {brokers:one=# broker|other=# brokers}: "
        "{key:default.replication.factor=a topic without a factor of its own is refused|"
        "offsets.topic.replication.factor=consumer groups cannot commit offsets|"
        "transaction.state.log.replication.factor=transactions cannot begin}."
    ),
    "kept-longer/default-time": (
        "Data is kept for {kept_ms} and deleted by whole segments, which end after {rolled_ms}: it"
        " may stay that much longer."
    ),
    "kept-longer/default-size": (
        "Data is kept for {kept:one=# byte|other=# bytes} and deleted by whole segments, which end"
        " after {rolled:one=# byte|other=# bytes}: it may stay that much longer."
    ),
    "compact-by-default": (
        "Topics are compacted unless they say otherwise: of each key only the latest value is kept,"
        " and records without a key are refused."
    ),
    "few-brokers": "Fewer than 3 brokers: a lost broker can mean lost data.",
    "few-brokers/stay": "Fewer than 3 brokers stay: a lost broker can mean lost data.",
    "not-encrypted": (
        "Without TLS whoever listens on the network reads every record, and can guess passwords"
        " from the logins that he sees. This cannot be changed later."
    ),
    "releases-differ": (
        "The brokers would be of several releases, which speak {protocols} to each other: they need"
        " not understand each other until the platform's hosts are of one."
    ),
    "data-loss/cluster": "Every topic on this cluster is deleted.",
    "credentials-forgotten": (
        "Its credentials are forgotten: to govern it again they must be given again. {topic} is"
        " removed from it, where it answers and no other registration is of the same Kafka."
    ),
    "settings-kept": (
        "Defaults of topics stay as they are with more brokers: {settings}. Change them in the"
        " cluster's configuration."
    ),
    "empty-at-first": (
        "New brokers hold nothing but what topics that are made then put on them. A plan that moves"
        " replicas onto them is offered afterwards."
    ),
    "addresses-go": (
        "{addresses}{more:none=|other= and # more}: clients that know the cluster by these"
        " addresses alone do not find it any more. Give them the new bootstrap servers first."
    ),
    "controller-moves": (
        "One of them is the active controller: it is stopped last, and another broker takes over."
    ),
    "own-setting": "{key} is set for broker {brokers} alone, which goes by that still.",
    "own-removed": (
        "What broker {brokers} has set for itself is taken away; the undo does not set it again."
    ),
    "writes-there": (
        "Penstock writes to this cluster: its telemetry to the topic {topic}"
        " ({partitions:one=# partition|other=# partitions}, at most"
        " {replicas:one=# replica|other=# replicas}, kept for {kept_ms}), and throttle settings of"
        " brokers and topics while partitions move. Else it changes only what a confirmed plan"
        " says. Letting the cluster go removes the topic."
    ),
    "registered-already": (
        "This is the Kafka that is registered as {cluster}: its telemetry will be written twice,"
        " and operations of the two do not exclude each other."
    ),
    "in-the-clear": (
        "{mechanism} without TLS: whoever is on the way to the brokers can read what logs in."
    ),
    "kafka-unknown": (
        "Penstock never learned this Kafka's own id: that the new way leads to the same one is not"
        " checked."
    ),
    "not-tried": (
        "{addresses:one=# address|other=# addresses} beyond the first {most} were not tried."
    ),
    "address-failed": "{answer}. This address does not let Penstock in.",
    "advertised-failed": (
        "{answer}. The Kafka sends its clients to an address that does not let Penstock in; what"
        " this broker leads or coordinates will be unknown."
    ),
    "too-weak": "With this login Penstock cannot {what}.",
}
