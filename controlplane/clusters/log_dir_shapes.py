"""What is given and shown of log directories: inputs and diffs of their operations, a broker's."""

from rest_framework import serializers

from controlplane.clusters.log_dir_rules import STATE_CHOICES
from controlplane.clusters.rolling import (
    BROKERS_MAX,
    CANARY_MAX_S,
    CANARY_S,
    RolledBrokerSerializer,
)
from controlplane.common.serializers import Shape

NAME = r"^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$"
RATE_MIN = 1_048_576
"""Below it a broker copies no slower."""
RATE_MAX = 2**53
RATE = 52_428_800


def name_field() -> serializers.RegexField:
    return serializers.RegexField(
        NAME, max_length=32, help_text="As the brokers' hosts call it; `main` is the first."
    )


def brokers_field(help_text: str) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 1),
        required=False,
        min_length=1,
        max_length=BROKERS_MAX,
        help_text=help_text,
    )


class AddLogDirectoryInputs(Shape):
    directory = name_field()
    brokers = brokers_field(
        "Only these; without them all whose host has the directory and that do not use it."
    )
    canary_s = serializers.IntegerField(
        required=False, default=CANARY_S, min_value=0, max_value=CANARY_MAX_S
    )


class EmptyLogDirectoryInputs(Shape):
    directory = name_field()
    brokers = brokers_field("Only these; without them all that use the directory.")
    remove = serializers.BooleanField(
        required=False,
        default=True,
        help_text="Whether the brokers are restarted without it once it is empty.",
    )
    bytes_per_s = serializers.IntegerField(
        required=False,
        default=RATE,
        allow_null=True,
        min_value=RATE_MIN,
        max_value=RATE_MAX,
        help_text="How fast each broker copies; null: as fast as it can.",
    )
    canary_s = serializers.IntegerField(
        required=False, default=CANARY_S, min_value=0, max_value=CANARY_MAX_S
    )


class NamesChangeSerializer(Shape):
    before = serializers.ListField(child=serializers.CharField())
    after = serializers.ListField(child=serializers.CharField())


class AddedToBrokerSerializer(RolledBrokerSerializer):
    log_dirs = NamesChangeSerializer()
    total_bytes = serializers.IntegerField(allow_null=True, help_text="Of the new directory.")
    free_bytes = serializers.IntegerField(allow_null=True)


class AddLogDirectoryDiffSerializer(Shape):
    directory = serializers.CharField()
    brokers = AddedToBrokerSerializer(many=True, help_text="In the order of their restarts.")
    canary_s = serializers.IntegerField()


class MovedToSerializer(Shape):
    directory = serializers.CharField()
    replicas = serializers.IntegerField()
    size_bytes = serializers.IntegerField()


class EmptiedBrokerSerializer(RolledBrokerSerializer):
    log_dirs = NamesChangeSerializer()
    state = serializers.ChoiceField(
        STATE_CHOICES, help_text="Of the directory. What lies in a failed one is read from others."
    )
    leaving = serializers.IntegerField(
        help_text="Replicas that are moved, or of a failed directory made anew."
    )
    leaving_bytes = serializers.IntegerField(
        allow_null=True, help_text="null: of a failed directory, as nobody leads all of them now."
    )
    moves = MovedToSerializer(
        many=True, help_text="Where they go; none of a failed directory: its broker chooses."
    )


class EmptyLogDirectoryDiffSerializer(Shape):
    directory = serializers.CharField()
    remove = serializers.BooleanField()
    bytes_per_s = serializers.IntegerField(allow_null=True)
    brokers = EmptiedBrokerSerializer(many=True)
    canary_s = serializers.IntegerField()


class BrokerDirectorySerializer(Shape):
    name = serializers.CharField()
    path = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(STATE_CHOICES)
    error = serializers.CharField(allow_null=True, help_text="Kafka's code, of a failed one.")
    problem = serializers.CharField(allow_null=True, help_text="What its host's agent says of it.")
    total_bytes = serializers.IntegerField(allow_null=True, help_text="Of its volume.")
    usable_bytes = serializers.IntegerField(allow_null=True)
    replicas = serializers.IntegerField(allow_null=True, help_text="null: of a failed one.")
    arriving = serializers.IntegerField(help_text="Replicas that are being moved there.")
    size_bytes = serializers.IntegerField(allow_null=True)
    can_be_emptied = serializers.BooleanField()
    can_be_removed = serializers.BooleanField()


class FreeDirectorySerializer(Shape):
    name = serializers.CharField()
    total_bytes = serializers.IntegerField(allow_null=True)
    free_bytes = serializers.IntegerField(allow_null=True)
    problem = serializers.CharField(allow_null=True, help_text="Why it cannot be added now.")


class BrokerDirectoriesSerializer(Shape):
    rows = BrokerDirectorySerializer(many=True)
    further = FreeDirectorySerializer(
        many=True, help_text="Those of its host that it does not use."
    )
    further_unknown = serializers.CharField(
        allow_null=True, help_text="Why it is not known which its host has."
    )
    lost_replicas = serializers.IntegerField(
        help_text="That the broker should have and none of its directories holds."
    )
    only_here = serializers.IntegerField(help_text="Of those: nobody else has them in sync.")
    managed = serializers.BooleanField()
