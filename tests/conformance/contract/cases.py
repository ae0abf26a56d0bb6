"""The contract: what every client is asked to do. A program runs those that its client has a way to do."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One row of the matrix. `needs` names the APIs without which brokers cannot serve it."""

    name: str
    title: str
    needs: tuple[str, ...] = ()


CASES = (
    Case("produce.none", "Produce uncompressed with acks 0, 1, all; read back"),
    Case("produce.gzip", "The same with gzip"),
    Case("produce.snappy", "The same with snappy"),
    Case("produce.lz4", "The same with lz4"),
    Case("produce.zstd", "The same with zstd"),
    Case("produce.idempotent", "Idempotent producer"),
    Case("group.join_leave", "A second member joins a group and leaves it; no record is left out"),
    Case("group.crash", "A member vanishes; another goes on from the committed offset"),
    Case(
        "group.consumer_protocol",
        "Group of the new protocol (KIP-848)",
        ("ConsumerGroupHeartbeat",),
    ),
    Case(
        "group.consumer_crash",
        "A member of the new protocol vanishes; another goes on",
        ("ConsumerGroupHeartbeat",),
    ),
    Case(
        "group.migration",
        "A group is rolled to the new protocol and back, with members of both in between; no record is left out",
        ("ConsumerGroupHeartbeat",),
    ),
    Case("group.static", "A static member restarts and has its partitions back; nobody rebalances"),
    Case("admin.topics", "Create, list, grow, delete topics"),
    Case("admin.configs", "Read and change configurations"),
    Case("admin.groups", "List and describe groups, read their offsets, delete them"),
    Case("admin.offsets", "Alter a group's offsets, and delete them where the client can"),
    Case("admin.acls", "Create, list, delete ACLs"),
    Case("admin.records", "Delete records; list offsets", ("DeleteRecords",)),
    Case(
        "admin.reassign",
        "Move replicas, list the moves",
        ("AlterPartitionReassignments", "ListPartitionReassignments"),
    ),
    Case("admin.elect", "Elect the preferred leader", ("ElectLeaders",)),
    Case("admin.log_dirs", "Describe log directories", ("DescribeLogDirs",)),
    Case(
        "admin.quotas",
        "Set, describe, remove client quotas",
        ("DescribeClientQuotas", "AlterClientQuotas"),
    ),
    Case(
        "admin.scram",
        "Make a SCRAM user, describe it, log in, delete it",
        ("DescribeUserScramCredentials", "AlterUserScramCredentials"),
    ),
    Case(
        "admin.transactions",
        "List and describe an open transaction and its producers; abort it",
        ("ListTransactions", "DescribeTransactions", "DescribeProducers", "WriteTxnMarkers"),
    ),
    Case("admin.cluster", "Describe the cluster, and its features where the client can"),
    Case("sasl.plain", "SASL PLAIN over TLS; a wrong password is refused"),
    Case("sasl.scram256", "SASL SCRAM-SHA-256 over TLS; a wrong password is refused"),
    Case("sasl.scram512", "SASL SCRAM-SHA-512 over TLS; a wrong password is refused"),
    Case("sasl.oauthbearer", "SASL OAUTHBEARER over TLS; a token for another service is refused"),
    Case(
        "sasl.token",
        "Make, describe, renew, expire a delegation token; log in with it",
        ("CreateDelegationToken",),
    ),
    Case("acl.denied_allowed", "Denied without a rule, allowed with one"),
    Case("acl.groups", "The same for a group"),
    Case("acl.transactional_ids", "The same for a transactional id"),
    Case(
        "txn.commit_abort",
        "Transactions committed and aborted, read_committed",
        ("AddPartitionsToTxn", "EndTxn"),
    ),
    Case(
        "txn.offsets",
        "Consume, transform, produce with offsets in the transaction: aborted, then committed",
        ("AddOffsetsToTxn", "TxnOffsetCommit"),
    ),
)
NAMES = tuple(case.name for case in CASES)
STATUSES = ("passed", "failed", "skipped", "absent")
"""`skipped`: the brokers lack an API. `absent`: the client has no way to ask for it."""
