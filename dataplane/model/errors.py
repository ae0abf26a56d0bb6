"""Kafka's error codes as of release 3.9: number, name, whether a client may retry, one sentence."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence


class ErrorCode(enum.IntEnum):
    """An error code of the wire protocol. `NONE` is success."""

    retriable: bool
    message: str

    def __new__(cls, code: int, message: str, retriable: bool = False) -> Self:
        member = int.__new__(cls, code)
        member._value_ = code
        member.message = message
        member.retriable = retriable
        return member

    UNKNOWN_SERVER_ERROR = (-1, "The server met an unexpected error while processing the request.")
    NONE = (0, "No error.")
    OFFSET_OUT_OF_RANGE = (1, "The requested offset is outside the range that the replica holds.")
    CORRUPT_MESSAGE = (
        2,
        "The batch fails its CRC check, has an invalid size, or lacks a key on a compacted topic.",
        True,
    )
    UNKNOWN_TOPIC_OR_PARTITION = (3, "This server does not host this topic-partition.", True)
    INVALID_FETCH_SIZE = (4, "The requested fetch size is invalid.")
    LEADER_NOT_AVAILABLE = (
        5,
        "There is no leader for this topic-partition: an election is under way.",
        True,
    )
    NOT_LEADER_OR_FOLLOWER = (
        6,
        "This broker is not the leader or a replica of this topic-partition.",
        True,
    )
    REQUEST_TIMED_OUT = (7, "The request timed out; whether it took effect is unknown.", True)
    BROKER_NOT_AVAILABLE = (8, "The broker is not available.")
    REPLICA_NOT_AVAILABLE = (
        9,
        "The replica is not available for the requested topic-partition.",
        True,
    )
    MESSAGE_TOO_LARGE = (10, "The batch is larger than the server accepts.")
    STALE_CONTROLLER_EPOCH = (11, "The controller has moved to another broker.")
    OFFSET_METADATA_TOO_LARGE = (12, "The metadata string of the offset commit is too large.")
    NETWORK_EXCEPTION = (13, "The server disconnected before the response was received.", True)
    COORDINATOR_LOAD_IN_PROGRESS = (
        14,
        "The coordinator is loading and cannot serve requests yet.",
        True,
    )
    COORDINATOR_NOT_AVAILABLE = (15, "The coordinator is not available.", True)
    NOT_COORDINATOR = (16, "This broker is not the right coordinator.", True)
    INVALID_TOPIC_EXCEPTION = (
        17,
        "The topic name is not valid, or the operation is not allowed on this topic.",
    )
    RECORD_LIST_TOO_LARGE = (
        18,
        "The request holds a batch larger than the segment size of the server.",
    )
    NOT_ENOUGH_REPLICAS = (19, "Fewer in-sync replicas than required: the batch was refused.", True)
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (
        20,
        "The batch was written, but to fewer in-sync replicas than required.",
        True,
    )
    INVALID_REQUIRED_ACKS = (21, "The acks value must be -1, 0 or 1.")
    ILLEGAL_GENERATION = (22, "The group generation is not the current one.")
    INCONSISTENT_GROUP_PROTOCOL = (
        23,
        "The member's protocol type or protocols do not fit the group's.",
    )
    INVALID_GROUP_ID = (24, "The group id is not valid.")
    UNKNOWN_MEMBER_ID = (25, "The coordinator does not know this member.")
    INVALID_SESSION_TIMEOUT = (
        26,
        "The session timeout is outside the range that the broker allows.",
    )
    REBALANCE_IN_PROGRESS = (27, "The group is rebalancing: the member must join again.")
    INVALID_COMMIT_OFFSET_SIZE = (28, "The committed offset data is too large.")
    TOPIC_AUTHORIZATION_FAILED = (29, "Topic authorization failed.")
    GROUP_AUTHORIZATION_FAILED = (30, "Group authorization failed.")
    CLUSTER_AUTHORIZATION_FAILED = (31, "Cluster authorization failed.")
    INVALID_TIMESTAMP = (32, "The timestamp of a record is outside the allowed range.")
    UNSUPPORTED_SASL_MECHANISM = (33, "The broker does not enable the requested SASL mechanism.")
    ILLEGAL_SASL_STATE = (34, "The request is not allowed in the current SASL state.")
    UNSUPPORTED_VERSION = (35, "This version of the API is not supported.")
    TOPIC_ALREADY_EXISTS = (36, "A topic of this name already exists.")
    INVALID_PARTITIONS = (37, "The number of partitions is invalid.")
    INVALID_REPLICATION_FACTOR = (
        38,
        "The replication factor is below 1 or above the number of available brokers.",
    )
    INVALID_REPLICA_ASSIGNMENT = (39, "The replica assignment is invalid.")
    INVALID_CONFIG = (40, "The configuration is invalid.")
    NOT_CONTROLLER = (41, "This broker is not the active controller.", True)
    INVALID_REQUEST = (42, "The request is malformed or its fields contradict each other.")
    UNSUPPORTED_FOR_MESSAGE_FORMAT = (
        43,
        "The message format of the broker does not support the request.",
    )
    POLICY_VIOLATION = (44, "The request breaks a policy of this cluster.")
    OUT_OF_ORDER_SEQUENCE_NUMBER = (
        45,
        "The broker received a sequence number that it did not expect.",
    )
    DUPLICATE_SEQUENCE_NUMBER = (46, "The broker received a duplicate sequence number.")
    INVALID_PRODUCER_EPOCH = (47, "The producer tried to write with an old epoch.")
    INVALID_TXN_STATE = (48, "The transaction is in a state that does not allow this.")
    INVALID_PRODUCER_ID_MAPPING = (
        49,
        "The producer id is not the one assigned to this transactional id.",
    )
    INVALID_TRANSACTION_TIMEOUT = (
        50,
        "The transaction timeout exceeds the maximum that the broker allows.",
    )
    CONCURRENT_TRANSACTIONS = (
        51,
        "Another operation on the same transaction is still under way.",
        True,
    )
    TRANSACTION_COORDINATOR_FENCED = (52, "A newer transaction coordinator has taken over.")
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = (53, "Transactional id authorization failed.")
    SECURITY_DISABLED = (54, "Security features are disabled.")
    OPERATION_NOT_ATTEMPTED = (
        55,
        "The broker did not attempt the operation, because another part of the batch failed.",
    )
    KAFKA_STORAGE_ERROR = (56, "The disk under the log could not be read or written.", True)
    LOG_DIR_NOT_FOUND = (57, "The named log directory is not configured on the broker.")
    SASL_AUTHENTICATION_FAILED = (58, "SASL authentication failed.")
    UNKNOWN_PRODUCER_ID = (59, "The broker holds no state for this producer id.")
    REASSIGNMENT_IN_PROGRESS = (60, "A partition reassignment is in progress.")
    DELEGATION_TOKEN_AUTH_DISABLED = (61, "Delegation tokens are not enabled.")
    DELEGATION_TOKEN_NOT_FOUND = (62, "The delegation token does not exist.")
    DELEGATION_TOKEN_OWNER_MISMATCH = (63, "The principal may not act on this delegation token.")
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = (
        64,
        "Delegation token requests are not allowed on this connection.",
    )
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = (65, "Delegation token authorization failed.")
    DELEGATION_TOKEN_EXPIRED = (66, "The delegation token has expired.")
    INVALID_PRINCIPAL_TYPE = (67, "The principal type is not supported.")
    NON_EMPTY_GROUP = (68, "The group is not empty.")
    GROUP_ID_NOT_FOUND = (69, "The group does not exist.")
    FETCH_SESSION_ID_NOT_FOUND = (70, "The fetch session does not exist.", True)
    INVALID_FETCH_SESSION_EPOCH = (71, "The fetch session epoch is not the expected one.", True)
    LISTENER_NOT_FOUND = (72, "The leader has no listener matching the one of the request.", True)
    TOPIC_DELETION_DISABLED = (73, "Topic deletion is disabled.")
    FENCED_LEADER_EPOCH = (74, "The leader epoch of the request is older than the broker's.", True)
    UNKNOWN_LEADER_EPOCH = (75, "The leader epoch of the request is newer than the broker's.", True)
    UNSUPPORTED_COMPRESSION_TYPE = (
        76,
        "The client's version does not support this compression type.",
    )
    STALE_BROKER_EPOCH = (77, "The broker epoch has changed.")
    OFFSET_NOT_AVAILABLE = (
        78,
        "The leader's high watermark has not caught up since its election.",
        True,
    )
    MEMBER_ID_REQUIRED = (
        79,
        "The member must join again with the id that the coordinator gave it.",
    )
    PREFERRED_LEADER_NOT_AVAILABLE = (80, "The preferred leader is not available.", True)
    GROUP_MAX_SIZE_REACHED = (81, "The group has reached its maximum size.")
    FENCED_INSTANCE_ID = (82, "Another member with the same group instance id has taken over.")
    ELIGIBLE_LEADERS_NOT_AVAILABLE = (83, "No replica is eligible to lead the partition.", True)
    ELECTION_NOT_NEEDED = (84, "The partition needs no leader election.", True)
    NO_REASSIGNMENT_IN_PROGRESS = (85, "No partition reassignment is in progress.")
    GROUP_SUBSCRIBED_TO_TOPIC = (
        86,
        "The group is subscribed to the topic whose offsets should be deleted.",
    )
    INVALID_RECORD = (87, "A record failed validation on the broker.")
    UNSTABLE_OFFSET_COMMIT = (88, "There are offsets whose transaction has not ended yet.", True)
    THROTTLING_QUOTA_EXCEEDED = (89, "A quota has been exceeded: try again later.", True)
    PRODUCER_FENCED = (90, "A newer producer with the same transactional id has fenced this one.")
    RESOURCE_NOT_FOUND = (91, "The request refers to a resource that does not exist.")
    DUPLICATE_RESOURCE = (92, "The request names the same resource twice.")
    UNACCEPTABLE_CREDENTIAL = (93, "The credential does not meet the requirements.")
    INCONSISTENT_VOTER_SET = (94, "Sender and receiver disagree about the voters.")
    INVALID_UPDATE_VERSION = (95, "The update was made from an outdated version.")
    FEATURE_UPDATE_FAILED = (96, "The features could not be updated.")
    PRINCIPAL_DESERIALIZATION_FAILURE = (97, "The forwarded principal could not be read.")
    SNAPSHOT_NOT_FOUND = (98, "The snapshot does not exist.")
    POSITION_OUT_OF_RANGE = (99, "The position is outside the snapshot.")
    UNKNOWN_TOPIC_ID = (100, "This server does not host this topic id.", True)
    DUPLICATE_BROKER_REGISTRATION = (101, "The broker id is in use.")
    BROKER_ID_NOT_REGISTERED = (102, "The broker id is not registered.")
    INCONSISTENT_TOPIC_ID = (
        103,
        "The topic id in the log differs from the one in the request.",
        True,
    )
    INCONSISTENT_CLUSTER_ID = (104, "The cluster id of the request is not this cluster's.")
    TRANSACTIONAL_ID_NOT_FOUND = (105, "The transactional id does not exist.")
    FETCH_SESSION_TOPIC_ID_ERROR = (106, "The fetch session mixes topic ids and topic names.", True)
    INELIGIBLE_REPLICA = (107, "The new ISR holds a replica that may not join it.")
    NEW_LEADER_ELECTED = (108, "The change to the partition has led to a new leader.")
    OFFSET_MOVED_TO_TIERED_STORAGE = (109, "The requested offset is in tiered storage.")
    FENCED_MEMBER_EPOCH = (110, "The coordinator has fenced the member's epoch.")
    UNRELEASED_INSTANCE_ID = (111, "The instance id is still used by another member.")
    UNSUPPORTED_ASSIGNOR = (112, "The assignor or its version range is not supported by the group.")
    STALE_MEMBER_EPOCH = (113, "The member epoch is stale.")
    MISMATCHED_ENDPOINT_TYPE = (114, "The request was sent to an endpoint of the wrong type.")
    UNSUPPORTED_ENDPOINT_TYPE = (115, "This endpoint type is not supported.")
    UNKNOWN_CONTROLLER_ID = (116, "The controller id is not known.")
    UNKNOWN_SUBSCRIPTION_ID = (117, "The telemetry subscription id is outdated or unknown.")
    TELEMETRY_TOO_LARGE = (118, "The telemetry is larger than the broker accepts.")
    INVALID_REGISTRATION = (119, "The broker registration is invalid.")
    TRANSACTION_ABORTABLE = (
        120,
        "The transaction met an error after which the client can only abort.",
    )
    INVALID_RECORD_STATE = (121, "The record's delivery state does not allow this.")
    SHARE_SESSION_NOT_FOUND = (122, "The share session does not exist.", True)
    INVALID_SHARE_SESSION_EPOCH = (123, "The share session epoch is invalid.", True)
    FENCED_STATE_EPOCH = (124, "The state epoch is not the current one.")
    INVALID_VOTER_KEY = (125, "The voter's directory id does not match.")
    DUPLICATE_VOTER = (126, "The voter is already in the set.")
    VOTER_NOT_FOUND = (127, "The voter is not in the set.")
    INVALID_REGULAR_EXPRESSION = (128, "The regular expression is not valid.")

    @classmethod
    def of(cls, code: int) -> ErrorCode:
        """The error with this number; a number that nobody knows reads as UNKNOWN_SERVER_ERROR."""
        return _BY_NUMBER.get(code, cls.UNKNOWN_SERVER_ERROR)


_BY_NUMBER = {int(member): member for member in ErrorCode}


class KafkaError(Exception):
    """A refusal that has a code in the protocol; handlers turn it into their response's shape.

    `record_errors` says which records of a batch are at fault: (index in the batch, why) (KIP-467).
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str | None = None,
        *,
        record_errors: Sequence[tuple[int, str]] = (),
    ) -> None:
        self.code = code
        self.message = message if message is not None else code.message
        self.record_errors = record_errors
        super().__init__(f"{code.name}: {self.message}")
