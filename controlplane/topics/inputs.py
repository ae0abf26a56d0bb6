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


class TopicUpdateInputs(Shape):
    name = name_field()
    configs = serializers.DictField(
        child=serializers.CharField(allow_null=True, allow_blank=True, max_length=CONFIG_VALUE_MAX)
    )


class TopicPartitionsInputs(Shape):
    name = name_field()
    partitions = serializers.IntegerField(min_value=1, max_value=PARTITIONS_MAX)


class TopicDeleteInputs(Shape):
    name = name_field()
