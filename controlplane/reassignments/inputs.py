"""What users may say: exact moves, topics and the brokers they should be on, topics and their
replication factor, or the broker that everything leaves.

A plan that the planner makes changes at most `PARTITIONS_MAX` partitions, and says so.
"""

from typing import Any

from rest_framework import serializers

from controlplane.common.serializers import Shape

BATCH_DEFAULT = 10
PARTITIONS_MAX = 5_000
THROTTLE_MIN_BYTES_PER_S = 1_024
REPLICATION_FACTOR_MAX = 100
INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1


class MoveInputs(Shape):
    topic = serializers.CharField(max_length=249)
    partition = serializers.IntegerField(min_value=0, max_value=INT32_MAX)
    replicas = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=INT32_MAX),
        min_length=1,
        max_length=100,
    )

    def validate_replicas(self, value: list[int]) -> list[int]:
        if len(set(value)) != len(value):
            raise serializers.ValidationError("A broker is named twice.")
        return value


class ReassignmentInputs(Shape):
    moves = MoveInputs(many=True, required=False, max_length=PARTITIONS_MAX)  # type: ignore[call-arg] # the list has it
    topics = serializers.ListField(
        child=serializers.CharField(max_length=249), required=False, max_length=1_000
    )
    all_topics = serializers.BooleanField(default=False)
    target_brokers = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=INT32_MAX),
        required=False,
        max_length=1_000,
    )
    excluded_brokers = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=INT32_MAX),
        required=False,
        max_length=1_000,
        help_text="They keep what they have and get nothing; every other non-target is emptied.",
    )
    replication_factor = serializers.IntegerField(
        min_value=1,
        max_value=REPLICATION_FACTOR_MAX,
        required=False,
        allow_null=True,
        help_text="How many replicas each partition of the topics gets; none moves.",
    )
    drain_broker = serializers.IntegerField(
        min_value=0,
        max_value=INT32_MAX,
        required=False,
        allow_null=True,
        help_text="Everything leaves this broker, and nothing else moves.",
    )
    throttle_bytes_per_s = serializers.IntegerField(
        min_value=THROTTLE_MIN_BYTES_PER_S, max_value=INT64_MAX, required=False, allow_null=True
    )
    batch_size = serializers.IntegerField(min_value=1, max_value=1_000, default=BATCH_DEFAULT)
    adopt = serializers.BooleanField(
        required=False,
        help_text="Take over where replicas are: the moves name what the brokers have, nothing"
        " moves, and from then on it is what this service wants.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        _check_one_wish(attrs)
        both = set(attrs.get("target_brokers", [])) & set(attrs.get("excluded_brokers", []))
        if both:
            raise serializers.ValidationError(
                {"excluded_brokers": f"Broker {min(both)} is a target too."}
            )
        if attrs.get("adopt") and not attrs.get("moves"):
            raise serializers.ValidationError({"adopt": "Say by moves what is taken over."})
        seen = [(move["topic"], move["partition"]) for move in attrs.get("moves", [])]
        if len(set(seen)) != len(seen):
            raise serializers.ValidationError({"moves": "A partition is named twice."})
        return attrs


def _check_one_wish(attrs: dict[str, Any]) -> None:
    """Of the four ways to say it exactly one, with the fields that belong to it."""
    named = bool(attrs.get("topics")) or attrs["all_topics"]
    wishes = {
        "moves": bool(attrs.get("moves")),
        "target_brokers": bool(attrs.get("target_brokers")),
        "replication_factor": attrs.get("replication_factor") is not None,
        "drain_broker": attrs.get("drain_broker") is not None,
    }
    said = [name for name, is_said in wishes.items() if is_said]
    needs_topics = said in (["target_brokers"], ["replication_factor"])
    if len(said) != 1 or named != needs_topics or (attrs.get("topics") and attrs["all_topics"]):
        raise serializers.ValidationError(
            "Give either moves, or drain_broker, or topics (or all_topics) together with"
            " target_brokers or with replication_factor."
        )
    if attrs.get("excluded_brokers") and said != ["target_brokers"]:
        raise serializers.ValidationError(
            {"excluded_brokers": "Brokers are excluded where topics are spread over targets."}
        )
