"""What users may say about topics."""

from rest_framework import serializers

from controlplane.common.serializers import Shape

NAME = r"^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$"
PARTITIONS_MAX = 10_000
CONFIG_VALUE_MAX = 10_000


def name_field() -> serializers.RegexField:
    return serializers.RegexField(
        NAME, max_length=249, help_text="1 to 249 of letters, digits, dot, underscore, hyphen."
    )


class TopicCreateInputs(Shape):
    name = name_field()
    partitions = serializers.IntegerField(min_value=1, max_value=PARTITIONS_MAX, default=1)
    replication_factor = serializers.IntegerField(min_value=1, max_value=100, default=3)
    configs = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=CONFIG_VALUE_MAX), default=dict
    )


def adopt_field() -> serializers.BooleanField:
    return serializers.BooleanField(
        required=False,
        help_text="Take over what the brokers have: nothing is changed there, and what is given has"
        " to be what they have. From then on it is what this service wants.",
    )


class TopicUpdateInputs(Shape):
    name = name_field()
    configs = serializers.DictField(
        child=serializers.CharField(allow_null=True, allow_blank=True, max_length=CONFIG_VALUE_MAX)
    )
    adopt = adopt_field()


class TopicPartitionsInputs(Shape):
    name = name_field()
    partitions = serializers.IntegerField(min_value=1, max_value=PARTITIONS_MAX)
    adopt = adopt_field()


LEASE_S_MIN, LEASE_S_MAX = 10, 90 * 86_400
RETENTION_MS_MAX = 3_650 * 86_400_000


class RetentionLeaseInputs(Shape):
    name = name_field()
    retention_ms = serializers.IntegerField(
        min_value=1,
        max_value=RETENTION_MS_MAX,
        help_text="How long records are kept under the lease; longer than now.",
    )
    for_s = serializers.IntegerField(
        min_value=LEASE_S_MIN,
        max_value=LEASE_S_MAX,
        help_text="After so many seconds retention.ms goes back by itself.",
    )
    disk_bound_bytes = serializers.IntegerField(
        min_value=1,
        max_value=1 << 60,
        required=False,
        help_text="What the topic may hold at most in one log directory when the lease ends.",
    )
    reason = serializers.CharField(max_length=300, allow_blank=True, default="")


class RetentionRestoreInputs(Shape):
    name = name_field()
    lease = serializers.CharField(
        max_length=40,
        required=False,
        help_text="The operation that began the lease or extended it; with it no later one ends.",
    )


class TopicDeleteInputs(Shape):
    name = name_field()


class TopicEmptyInputs(Shape):
    name = name_field()
