"""What users may say about users and ACLs."""

from typing import Any

from rest_framework import serializers

from controlplane.clusters.logins import OF_NEW_USERS, SCRAM
from controlplane.common.problems import field_problem
from controlplane.common.serializers import Shape
from controlplane.gateway.types import AclBinding

MECHANISMS = list(SCRAM)
OPERATIONS = [
    "ALL",
    "READ",
    "WRITE",
    "CREATE",
    "DELETE",
    "ALTER",
    "DESCRIBE",
    "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS",
    "IDEMPOTENT_WRITE",
]
PERMISSIONS = ["ALLOW", "DENY"]
RESOURCE_TYPES = ["TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID"]
PATTERN_TYPES = ["LITERAL", "PREFIXED"]
BINDINGS_MAX = 200
OVERLAP_S_MAX = 30 * 86_400
"""The longest that two passwords of one user may stand beside each other by one rotation."""
QUOTA_BYTES_MAX = 2**53
"""A bound that JSON keeps to the byte: 9 PB a second."""
QUOTA_NAME_MAX = 200
CLUSTER_RESOURCE = "kafka-cluster"
VALID_OPERATIONS = {
    "TOPIC": {
        "ALL",
        "READ",
        "WRITE",
        "CREATE",
        "DELETE",
        "ALTER",
        "DESCRIBE",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
    },
    "GROUP": {"ALL", "READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"},
    "TRANSACTIONAL_ID": {"ALL", "WRITE", "DESCRIBE"},
    "CLUSTER": {
        "ALL",
        "CREATE",
        "ALTER",
        "DESCRIBE",
        "CLUSTER_ACTION",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
        "IDEMPOTENT_WRITE",
    },
}


class UpperChoice(serializers.ChoiceField):
    """Kafka's words in any case; stored in upper case."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(data.upper() if isinstance(data, str) else data)


class BindingInputs(Shape):
    principal = serializers.RegexField(
        r"^User:[^\s,;]{1,200}$", max_length=205, help_text="`User:<name>`"
    )
    host = serializers.CharField(default="*", max_length=200)
    operation = UpperChoice(OPERATIONS)
    permission = UpperChoice(PERMISSIONS, default="ALLOW")
    resource_type = UpperChoice(RESOURCE_TYPES)
    resource_name = serializers.CharField(max_length=249)
    pattern_type = UpperChoice(PATTERN_TYPES, default="LITERAL")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        kind = attrs["resource_type"]
        if attrs["operation"] not in VALID_OPERATIONS[kind]:
            raise serializers.ValidationError(
                {"operation": f"{attrs['operation']} does not apply to a {kind}."}
            )
        if kind == "CLUSTER" and attrs["resource_name"] != CLUSTER_RESOURCE:
            raise serializers.ValidationError(
                {"resource_name": f"The cluster's resource is called {CLUSTER_RESOURCE}."}
            )
        return attrs


def username_field() -> serializers.RegexField:
    return serializers.RegexField(
        r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        max_length=100,
        help_text="Letters, digits, dot, hyphen.",
    )


class UserCreateInputs(Shape):
    username = username_field()
    mechanism = UpperChoice(MECHANISMS, default=OF_NEW_USERS)
    acls = BindingInputs(many=True, required=False, max_length=BINDINGS_MAX)  # type: ignore[call-arg] # the list has it


class UserInputs(Shape):
    username = username_field()


class UserRotateInputs(UserInputs):
    overlap_s = serializers.IntegerField(
        min_value=0,
        max_value=OVERLAP_S_MAX,
        default=0,
        help_text="How long the old password works beside the new one; 0: it ends at once.",
    )


class UserRetireInputs(UserInputs):
    mechanism = UpperChoice(MECHANISMS, help_text="The password that is removed is the one of it.")
    rotation = serializers.CharField(
        max_length=40,
        required=False,
        help_text="The operation that began the overlap; with it no later one is touched.",
    )


class AclInputs(Shape):
    bindings = BindingInputs(many=True, allow_empty=False, max_length=BINDINGS_MAX)  # type: ignore[call-arg] # the list has it
    adopt = serializers.BooleanField(
        required=False,
        help_text="Take over what the brokers have: each rule is there already, or gone already,"
        " nothing is changed, and from then on it is what this service wants.",
    )


class QuotaValuesInputs(Shape):
    """Null takes one away; one that is not named stays as it is."""

    producer_byte_rate = serializers.IntegerField(
        min_value=1, max_value=QUOTA_BYTES_MAX, required=False, allow_null=True
    )
    consumer_byte_rate = serializers.IntegerField(
        min_value=1, max_value=QUOTA_BYTES_MAX, required=False, allow_null=True
    )
    request_percentage = serializers.FloatField(
        min_value=0.01, max_value=100_000.0, required=False, allow_null=True
    )
    controller_mutation_rate = serializers.FloatField(
        min_value=0.01, max_value=1_000_000.0, required=False, allow_null=True
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError("Name a quota to set or to take away.")
        return attrs


class QuotaSetInputs(Shape):
    """Of a user, a client id, or both; null: of all that have none of their own."""

    user = serializers.CharField(max_length=QUOTA_NAME_MAX, required=False, allow_null=True)
    client_id = serializers.CharField(max_length=QUOTA_NAME_MAX, required=False, allow_null=True)
    quotas = QuotaValuesInputs(help_text="What each broker lets through, by Kafka's keys.")
    adopt = serializers.BooleanField(
        required=False,
        help_text="Take over what the brokers have: what is given is what is there, nothing is"
        " changed, and from then on it is what this service wants.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "user" not in attrs and "client_id" not in attrs:
            raise serializers.ValidationError({"user": "Say of which user, or of which client id."})
        return attrs


def bindings_of(rows: list[dict[str, Any]]) -> list[AclBinding]:
    return [AclBinding(**row) for row in rows]


def check_own_principal(username: str, rows: list[dict[str, Any]]) -> None:
    """ACLs that come with a new user are that user's."""
    for index, row in enumerate(rows):
        if row["principal"] != f"User:{username}":
            raise field_problem(
                f"/inputs/acls/{index}/principal", f"must be User:{username} here", "mismatch"
            )
