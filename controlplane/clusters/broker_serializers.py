"""The shapes of one broker's page."""

from rest_framework import serializers

from controlplane.clusters.models import KIND_CHOICES
from controlplane.clusters.questions import LEVELS
from controlplane.clusters.serializers import BrokerSerializer
from controlplane.common.serializers import PageSerializer, Shape


class BrokerDetailSerializer(BrokerSerializer):
    cluster_kind = serializers.ChoiceField(KIND_CHOICES)
    may_change = serializers.BooleanField(
        help_text="Whether the reader may restart it and have leaders elected."
    )
    is_controller = serializers.BooleanField(allow_null=True)
    leaders = serializers.IntegerField(allow_null=True)
    replicas = serializers.IntegerField(allow_null=True)
    size_bytes = serializers.IntegerField(
        allow_null=True, help_text="null while its log directories cannot be read."
    )
    disk_total_bytes = serializers.IntegerField(
        allow_null=True, help_text="Of its fullest volume; null where it does not say."
    )
    disk_usable_bytes = serializers.IntegerField(allow_null=True)


class PlacedTopicSerializer(Shape):
    topic = serializers.CharField()
    leads = serializers.IntegerField()
    follows = serializers.IntegerField()
    out_of_sync = serializers.IntegerField()
    offline = serializers.IntegerField(help_text="Without any leader.")
    size_bytes = serializers.IntegerField(
        allow_null=True, help_text="Of the partitions that it leads; null: not known."
    )


class BrokerPlacementSerializer(Shape):
    leads = serializers.IntegerField()
    follows = serializers.IntegerField()
    out_of_sync = serializers.IntegerField()
    offline = serializers.IntegerField()
    preferred_elsewhere = serializers.IntegerField(
        help_text="Partitions that it is preferred to lead and another broker leads."
    )
    topics = serializers.IntegerField(help_text="That have a replica there.")
    rows = PlacedTopicSerializer(many=True, help_text="At most 200, those in trouble first.")


class BrokerEndSerializer(Shape):
    at_ms = serializers.IntegerField(allow_null=True)
    exit_code = serializers.IntegerField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    log_tail = serializers.ListField(child=serializers.CharField(), allow_null=True)


class BrokerProcessSerializer(Shape):
    state = serializers.CharField()
    pid = serializers.IntegerField(allow_null=True)
    restarts = serializers.IntegerField()
    since_ms = serializers.IntegerField(allow_null=True)
    exit_code = serializers.IntegerField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    reported_at_ms = serializers.IntegerField(allow_null=True)
    version = serializers.CharField(
        allow_null=True, help_text="Of which its agent started it; null: not known."
    )
    software = serializers.CharField(
        allow_null=True, help_text="What the process calls itself; null: it does not say."
    )
    protocol = serializers.CharField(
        allow_null=True, help_text="inter.broker.protocol.version, as the process says."
    )
    digest = serializers.CharField(allow_null=True, help_text="SHA-256 of the release's files.")
    ends = BrokerEndSerializer(
        many=True, help_text="Ends that nobody asked for since it was placed or restarted by plan."
    )
    log_tail = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="The last lines, of a process that does not run; null: not for this reader.",
    )
    log_hidden = serializers.CharField(allow_null=True, help_text="Why there are no lines.")


class LogLineSerializer(Shape):
    text = serializers.CharField(allow_blank=True, help_text="As it stands there; believe nothing.")
    level = serializers.ChoiceField(
        LEVELS, allow_null=True, help_text="Of the entry that it is part of; null: it says none."
    )
    cut = serializers.BooleanField(help_text="Whether more stood there than is shown.")


class BrokerLogPageSerializer(Shape):
    data = LogLineSerializer(  # type: ignore[assignment] # a field
        many=True,
        help_text="In their order in the log; the next page holds what was before. An entry is on"
        " one page, which may hold fewer lines than asked for, also none.",
    )
    page = PageSerializer()
    size_bytes = serializers.IntegerField(
        allow_null=True, help_text="Of all that the host keeps of the log."
    )
    written_at_ms = serializers.IntegerField(
        allow_null=True, help_text="When the log was last written to, by the host's clock."
    )
    answered_at_ms = serializers.IntegerField(allow_null=True, help_text="By the host's clock.")
