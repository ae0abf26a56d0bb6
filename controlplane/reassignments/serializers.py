from rest_framework import serializers

from controlplane.common.serializers import PageSerializer, Shape, etag_field
from controlplane.observed.serializers import ObservedSerializer
from controlplane.operations.serializers import GapSerializer
from controlplane.reassignments.inputs import INT64_MAX, THROTTLE_MIN_BYTES_PER_S
from controlplane.reassignments.rules import MoveState

NOT_KNOWN = "null: not known"


class ReassignmentSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    replicas = serializers.ListField(child=serializers.IntegerField())
    adding = serializers.ListField(child=serializers.IntegerField())
    removing = serializers.ListField(child=serializers.IntegerField())
    bytes_moved = serializers.IntegerField(allow_null=True, help_text=NOT_KNOWN)
    bytes_to_move = serializers.IntegerField(allow_null=True, help_text=NOT_KNOWN)


class ReassignmentPageSerializer(Shape):
    data = ReassignmentSerializer(many=True)  # type: ignore[assignment] # a field
    page = PageSerializer()
    unknown = GapSerializer(many=True)
    observed = ObservedSerializer()


class ActiveReassignmentsSerializer(Shape):
    """How many partitions move, and the first of them."""

    total = serializers.IntegerField()
    rows = ReassignmentSerializer(many=True)
    unknown = GapSerializer(many=True)


class MoveProgressSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    before = serializers.ListField(child=serializers.IntegerField())
    after = serializers.ListField(child=serializers.IntegerField())
    state = serializers.ChoiceField([str(each) for each in MoveState])
    bytes_moved = serializers.IntegerField(allow_null=True, help_text=NOT_KNOWN)
    bytes_to_move = serializers.IntegerField(allow_null=True, help_text=NOT_KNOWN)


class MoveProgressPageSerializer(Shape):
    data = MoveProgressSerializer(many=True)  # type: ignore[assignment] # a field
    page = PageSerializer()
    unknown = GapSerializer(many=True)
    goes_back = serializers.BooleanField(
        help_text="Cancelled: `before` and `after` are those of the way back."
    )
    throttle_bytes_per_s = serializers.IntegerField(allow_null=True)


class ThrottleInputSerializer(Shape):
    throttle_bytes_per_s = serializers.IntegerField(
        min_value=THROTTLE_MIN_BYTES_PER_S,
        max_value=INT64_MAX,
        allow_null=True,
        help_text="null: no limit",
    )


class ThrottleSerializer(Shape):
    throttle_bytes_per_s = serializers.IntegerField(allow_null=True)
    is_set = serializers.BooleanField(help_text="Whether brokers may have a limit of it now.")
    can_be_changed = serializers.BooleanField(help_text="Whether it copies something still.")
    least_bytes_per_s = serializers.IntegerField(help_text="Of a limit that is asked for.")
    etag = etag_field()


class MoveSerializer(Shape):
    topic = serializers.CharField()
    partition = serializers.IntegerField()
    before = serializers.ListField(child=serializers.IntegerField())
    after = serializers.ListField(child=serializers.IntegerField())
    bytes = serializers.IntegerField(allow_null=True, help_text="null: not known")
    size_bytes = serializers.IntegerField(allow_null=True)


class BrokerLoadSerializer(Shape):
    id = serializers.IntegerField()
    before_bytes = serializers.IntegerField(allow_null=True, help_text="null: it did not say")
    after_bytes = serializers.IntegerField(allow_null=True)
    before_replicas = serializers.IntegerField(
        allow_null=True, help_text="null: it did not say, in older plans"
    )
    after_replicas = serializers.IntegerField(allow_null=True)
    before_leaders = serializers.IntegerField(
        allow_null=True, help_text="Partitions that prefer it as leader; null in older plans."
    )
    after_leaders = serializers.IntegerField(allow_null=True)
    before_rack_violations = serializers.IntegerField(
        allow_null=True,
        help_text="Its replicas of the chosen topics beside another of their partition in one"
        " rack; null in older plans.",
    )
    after_rack_violations = serializers.IntegerField(allow_null=True)


class BalanceSerializer(Shape):
    """What a rebalance went by; shares of the mean, both ways."""

    basis = serializers.ChoiceField(choices=["bytes", "replicas"])
    bytes_tolerance = serializers.FloatField(allow_null=True)
    replicas_tolerance = serializers.FloatField()
    leaders_tolerance = serializers.FloatField()


class LimitSerializer(Shape):
    """What the plan does not reach, and why."""

    code = serializers.CharField()
    broker = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()


class ReassignmentDiffSerializer(Shape):
    partitions = MoveSerializer(many=True)
    brokers = BrokerLoadSerializer(many=True)
    balance = BalanceSerializer(allow_null=True, help_text="Null when exact moves were given.")
    limits = LimitSerializer(many=True)
