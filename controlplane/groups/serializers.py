from typing import Any

from rest_framework import serializers

from controlplane.common.serializers import Shape
from controlplane.groups.diagnosis import Cause
from controlplane.groups.rules import EFFECTS
from controlplane.observed.serializers import ObservedRowSerializer, observed_page
from spark_analytics.contracts.statuses import Risk, Severity, Status


def _choices(words: type[Any]) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]


CAUSE_CHOICES = _choices(Cause)
SEVERITY_CHOICES = _choices(Severity)
STATUS_CHOICES = _choices(Status)
RISK_CHOICES = _choices(Risk)


class DiagnosisSerializer(Shape):
    """Why a group is where it is: the worst of its topics speaks for it."""

    cause = serializers.ChoiceField(CAUSE_CHOICES)
    severity = serializers.ChoiceField(SEVERITY_CHOICES, help_text="By the worst harm.")
    status = serializers.ChoiceField(STATUS_CHOICES, allow_null=True)
    risk = serializers.ChoiceField(RISK_CHOICES, allow_null=True)
    topic = serializers.CharField(allow_null=True)
    partitions = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The topic's partitions that are the cause; empty: all alike, or not known.",
    )
    text = serializers.CharField(help_text="One sentence.")
    next_step = serializers.CharField(allow_blank=True)
    unknown = serializers.ListField(
        child=serializers.CharField(), help_text="What is not known, a sentence each."
    )
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="Of the newest sample that was judged; null: none was."
    )
    is_stale = serializers.BooleanField(help_text="A newer sample is overdue.")


LAG = "Records behind the commits; null while a part of it is not known."
UNCOMMITTED_RECORDS = (
    "What partitions without a commit hold. Consumers read it with auto.offset.reset=earliest,"
    " none of it with latest; brokers do not know that setting. null: not known."
)
UNREAD_AT_MOST = "The lag and all that partitions without a commit hold; null: not known."


class _UnreadSerializer(Shape):
    lag = serializers.IntegerField(allow_null=True, help_text=LAG)
    uncommitted_partitions = serializers.IntegerField(
        allow_null=True, help_text="Of the topics that it uses, those without a commit."
    )
    uncommitted_records = serializers.IntegerField(allow_null=True, help_text=UNCOMMITTED_RECORDS)
    unread_at_most = serializers.IntegerField(allow_null=True, help_text=UNREAD_AT_MOST)
    diagnosis = DiagnosisSerializer()


class GroupRowSerializer(ObservedRowSerializer, _UnreadSerializer):
    group = serializers.CharField()
    state = serializers.CharField()
    protocol_type = serializers.CharField(allow_blank=True)
    members = serializers.IntegerField()
    coordinator = serializers.IntegerField(allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())


GroupRowPageSerializer = observed_page(GroupRowSerializer)


class TopicPartitionSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()


class GroupMemberSerializer(Shape):
    member_id = serializers.CharField()
    client_id = serializers.CharField()
    host = serializers.CharField()
    partitions = TopicPartitionSerializer(many=True)


class OwnerSerializer(Shape):
    member_id = serializers.CharField()
    client_id = serializers.CharField()
    host = serializers.CharField()


class GroupOffsetSerializer(Shape):
    """Where a group stands in one partition.

    Rates and times are the collector's, as of `sampled_at`; null there: they are not known.
    """

    topic = serializers.CharField()
    partition = serializers.IntegerField()
    committed = serializers.IntegerField(allow_null=True, help_text="null: no commit")
    log_start = serializers.IntegerField(allow_null=True)
    log_end = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)
    unread_at_least = serializers.IntegerField(allow_null=True)
    unread_at_most = serializers.IntegerField(
        allow_null=True, help_text="Without a commit all that is held."
    )
    metadata = serializers.CharField(allow_blank=True)
    owner = OwnerSerializer(allow_null=True, help_text="null: assigned to no member")
    sampled_at = serializers.DateTimeField(allow_null=True)
    lag_s = serializers.FloatField(allow_null=True)
    lag_s_at_least = serializers.FloatField(allow_null=True)
    produce_records_per_s = serializers.FloatField(allow_null=True)
    consume_records_per_s = serializers.FloatField(allow_null=True)
    eta_s = serializers.FloatField(
        allow_null=True, help_text="Until it has caught up; null: not at this pace, or not known."
    )
    stuck_s = serializers.FloatField(
        allow_null=True, help_text="How long the committed offset has stood still, at least."
    )
    expires_in_s = serializers.FloatField(
        allow_null=True, help_text="Until retention may take the first unread record."
    )
    first_loss_in_s = serializers.FloatField(
        allow_null=True, help_text="Until, at this pace, a record is lost unread."
    )
    lost_records = serializers.IntegerField(allow_null=True)


class GroupSerializer(ObservedRowSerializer, _UnreadSerializer):
    group = serializers.CharField()
    state = serializers.CharField()
    protocol_type = serializers.CharField(allow_blank=True)
    coordinator = serializers.IntegerField(allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())
    members = GroupMemberSerializer(many=True)
    offsets = GroupOffsetSerializer(many=True)


class OffsetChangeSerializer(TopicPartitionSerializer):
    to = serializers.IntegerField(allow_null=True)
    log_start = serializers.IntegerField(
        allow_null=True, help_text="null: the partition has no leader now, nobody says it"
    )
    log_end = serializers.IntegerField(allow_null=True)
    effect = serializers.ChoiceField(EFFECTS)
    records = serializers.IntegerField(
        allow_null=True, help_text="null: the commit goes, and its consumers' settings decide"
    )
    reason = serializers.CharField(allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "from": serializers.IntegerField(allow_null=True)}


class TopicReaderSerializer(ObservedRowSerializer):
    """A group on one topic."""

    group = serializers.CharField()
    state = serializers.CharField()
    members = serializers.IntegerField()
    lag = serializers.IntegerField(
        allow_null=True, help_text="Records, on this topic; null: not known, or no commit."
    )
    committed = serializers.IntegerField(help_text="Partitions with a commit.")
    uncommitted = serializers.IntegerField(help_text="Partitions of the topic without one.")


class TopicReadersSerializer(Shape):
    groups = TopicReaderSerializer(many=True)
    complete = serializers.BooleanField(help_text="Whether every group was looked at.")


class OffsetDiffSerializer(Shape):
    partitions = OffsetChangeSerializer(many=True)


class GroupFactsSerializer(Shape):
    state = serializers.CharField()
    members = serializers.IntegerField()
    lag = serializers.IntegerField(allow_null=True)


class VanishingOffsetSerializer(TopicPartitionSerializer):
    committed = serializers.IntegerField()
    log_start = serializers.IntegerField(allow_null=True)
    log_end = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)
    restorable = serializers.BooleanField(help_text="Its partition is there: undo commits it again")


class GroupDeletionDiffSerializer(Shape):
    before = GroupFactsSerializer()
    after = serializers.JSONField()
    offsets = VanishingOffsetSerializer(many=True)
