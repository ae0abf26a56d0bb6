"""The shapes of who writes to a topic, and of its replicas: what brokers say when asked."""

from rest_framework import serializers

from controlplane.common.serializers import PageSerializer, Shape
from controlplane.topics.producer_rules import Standing

STANDING_CHOICES = [each.value for each in Standing]
COMPLETE = "Whether every broker said all that was asked; `gaps` say what is missing."


class AskedSerializer(Shape):
    """What was asked of brokers just now."""

    as_of = serializers.DateTimeField()
    complete = serializers.BooleanField(help_text=COMPLETE)
    gaps = serializers.ListField(
        child=serializers.CharField(), help_text="Phrases: `broker 2 did not answer`."
    )


class ProducerTraceSerializer(Shape):
    """What one partition remembers of a producer."""

    partition = serializers.IntegerField()
    epoch = serializers.IntegerField()
    last_sequence = serializers.IntegerField(allow_null=True)
    last_timestamp_ms = serializers.IntegerField(
        allow_null=True, help_text="Of its last batch, by the records' own timestamps."
    )
    coordinator_epoch = serializers.IntegerField(
        allow_null=True,
        help_text="Of the coordinator that ended its last transaction there; null: none yet.",
    )
    open_since_offset = serializers.IntegerField(
        allow_null=True, help_text="Where its open transaction begins; null: none is open."
    )
    standing = serializers.ChoiceField(STANDING_CHOICES, allow_null=True)


class ProducerTransactionSerializer(Shape):
    standing = serializers.ChoiceField(
        STANDING_CHOICES,
        help_text="open: within its time. late: its coordinator should have ended it by its "
        "timeout. hanging: no coordinator has it, nobody will end it. unknown: not every "
        "coordinator could be asked.",
    )
    transactional_id = serializers.CharField(
        allow_null=True, help_text="null: not known, or without a role on the whole cluster."
    )
    state = serializers.CharField(allow_null=True, help_text="Its coordinator's word.")
    started_at_ms = serializers.IntegerField(allow_null=True)
    timeout_ms = serializers.IntegerField(allow_null=True)
    partition_count = serializers.IntegerField(help_text="Of this topic, that it is open in.")


class ProducerSerializer(Shape):
    producer_id = serializers.IntegerField()
    epoch = serializers.IntegerField(help_text="The highest in any partition.")
    last_timestamp_ms = serializers.IntegerField(allow_null=True)
    partition_count = serializers.IntegerField()
    partitions = ProducerTraceSerializer(
        many=True, help_text="At most 100, those with an open transaction first."
    )
    transaction = ProducerTransactionSerializer(
        allow_null=True, help_text="null: it has none open in this topic."
    )


class AskedOfLeadersSerializer(AskedSerializer):
    partition_count = serializers.IntegerField()
    partitions_known = serializers.IntegerField(help_text="Whose leader has answered.")


class ProducerPageSerializer(AskedOfLeadersSerializer):
    """Producers by id; those without a producer id leave no trace at brokers."""

    data = ProducerSerializer(many=True)  # type: ignore[assignment] # a field
    page = PageSerializer()


class ProducersSerializer(AskedOfLeadersSerializer):
    """Producers, the worst transactions first, then who wrote last."""

    producers = ProducerSerializer(many=True, help_text="At most 200.")
    producer_count = serializers.IntegerField()


class ReplicaSerializer(Shape):
    broker = serializers.IntegerField()
    is_leader = serializers.BooleanField()
    in_sync = serializers.BooleanField()
    is_assigned = serializers.BooleanField(
        help_text="false: the partition is not to be there; it is left over."
    )
    is_future = serializers.BooleanField(
        help_text="A copy that takes its replica's place once it is as far."
    )
    size_bytes = serializers.IntegerField(allow_null=True, help_text="null: not known.")
    offset_lag = serializers.IntegerField(
        allow_null=True,
        help_text="Records behind what it knows to be committed; a future one behind its replica.",
    )
    log_dir = serializers.CharField(
        allow_null=True, help_text="null: not known, or without a role on the whole cluster."
    )
    unknown_because = serializers.CharField(allow_null=True)


class PartitionReplicasSerializer(Shape):
    partition = serializers.IntegerField()
    leader = serializers.IntegerField(allow_null=True)
    replicas = ReplicaSerializer(many=True)


class TopicReplicasSerializer(AskedSerializer):
    partition_count = serializers.IntegerField()
    data = PartitionReplicasSerializer(  # type: ignore[assignment] # a field
        many=True, help_text="At most the first 2,000."
    )
