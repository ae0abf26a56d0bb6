"""The shapes of self-healing: a policy with its windows, cases, and a host's drain."""

from zoneinfo import available_timezones

from rest_framework import serializers

from controlplane.common.serializers import Shape, etag_field
from controlplane.healing.rules import (
    PER_DAY,
    PER_DAY_MAX,
    PER_DAY_MIN,
    REPLACE_AFTER_MAX_S,
    REPLACE_AFTER_MIN_S,
    REPLACE_AFTER_S,
)
from controlplane.healing.states import CASE_MOVES, MODES
from controlplane.healing.windows import DAYS, MINUTES_MAX, MINUTES_MIN, WINDOWS_MAX
from controlplane.operations.serializers import DetailPartSerializer


def check_zone(value: str) -> None:
    """Raises ValidationError: IANA has none of this name."""
    if value not in available_timezones():
        raise serializers.ValidationError("A time zone is one of IANA's, as Europe/Berlin or UTC.")


class MaintenanceWindowSerializer(Shape):
    day = serializers.ChoiceField(DAYS)
    begins = serializers.RegexField(
        r"\A([01][0-9]|2[0-3]):[0-5][0-9]\Z",
        max_length=len("HH:MM"),
        help_text="HH:MM of the zone's clock.",
    )
    minutes = serializers.IntegerField(min_value=MINUTES_MIN, max_value=MINUTES_MAX)


class HealingPolicyInputSerializer(Shape):
    mode = serializers.ChoiceField(
        MODES,
        help_text="`off`: nothing. `ask`: it is proposed. `automatic`: a broker whose host is"
        " silent is put on another one.",
    )
    replace_after_s = serializers.IntegerField(
        min_value=REPLACE_AFTER_MIN_S,
        max_value=REPLACE_AFTER_MAX_S,
        default=REPLACE_AFTER_S,
        help_text="How long a host is silent before.",
    )
    per_day_max = serializers.IntegerField(
        min_value=PER_DAY_MIN,
        max_value=PER_DAY_MAX,
        default=PER_DAY,
        help_text="So many replacements by themselves in 24 hours.",
    )
    windows = serializers.ListField(
        child=MaintenanceWindowSerializer(),
        required=False,
        default=list,
        max_length=WINDOWS_MAX,
        help_text="When in a week, unless partitions fail already; none: at any time.",
    )
    time_zone = serializers.CharField(max_length=100, default="UTC", validators=[check_zone])


def parts_field(of: str) -> DetailPartSerializer:
    return DetailPartSerializer(
        many=True,
        help_text=f"The sentences of {of}, one after the other. Empty: an earlier version wrote"
        " it, or it is too long.",
    )


class HealingDecisionSerializer(Shape):
    code = serializers.CharField()
    text = serializers.CharField(help_text="In English.")
    parts = parts_field("text")
    at = serializers.DateTimeField()


class HealingCaseSerializer(Shape):
    id = serializers.CharField()
    broker = serializers.IntegerField()
    silent_since = serializers.DateTimeField(allow_null=True)
    state = serializers.ChoiceField(CASE_MOVES.states)
    code = serializers.CharField()
    text = serializers.CharField(help_text="Why it is in this state, in English.")
    parts = parts_field("text")
    operation_id = serializers.CharField(allow_null=True)
    by = serializers.CharField(allow_null=True, help_text="Who decided; null: the service.")
    created_at = serializers.DateTimeField()
    moved_at = serializers.DateTimeField()


class HealingSerializer(Shape):
    mode = serializers.ChoiceField(MODES)
    replace_after_s = serializers.IntegerField()
    per_day_max = serializers.IntegerField()
    windows = MaintenanceWindowSerializer(many=True)
    time_zone = serializers.CharField()
    changed_at = serializers.DateTimeField(allow_null=True)
    changed_by = serializers.CharField(allow_null=True)
    window_open = serializers.BooleanField(help_text="Now.")
    window_opens_at = serializers.DateTimeField(allow_null=True)
    decision = HealingDecisionSerializer(
        allow_null=True, help_text="What the last round came to; null: there was none."
    )
    cases = HealingCaseSerializer(many=True, help_text="The newest first.")
    etag = etag_field()


def waiting_field() -> DetailPartSerializer:
    return DetailPartSerializer(
        many=True,
        help_text="The sentences of waiting_for, one after the other. Empty: nothing is in the way,"
        " or it was kept by an earlier version.",
    )


class HostDrainInputSerializer(Shape):
    paused = serializers.BooleanField(help_text="Whether no other broker is begun.")


class HostDrainSerializer(Shape):
    began_at = serializers.DateTimeField()
    by = serializers.CharField()
    moved = serializers.IntegerField(help_text="Brokers that have left.")
    left = serializers.IntegerField(help_text="Brokers that are still there.")
    operation_id = serializers.CharField(allow_null=True, help_text="The move under way.")
    about = serializers.CharField(allow_null=True, help_text="Cluster and broker of that move.")
    waiting_for = serializers.CharField(
        allow_null=True, help_text="Why no move is under way, in English."
    )
    waiting_for_parts = waiting_field()
    paused_at = serializers.DateTimeField(allow_null=True)
    paused_by = serializers.CharField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When nothing was left there.")


class HostAddressInputSerializer(Shape):
    address = serializers.CharField(
        max_length=100,
        allow_null=True,
        help_text="What the host's agent serves at now: its brokers follow. null: no other"
        " cluster's brokers are begun.",
    )


class HostAddressChangeSerializer(Shape):
    address = serializers.CharField()
    by = serializers.CharField()
    began_at = serializers.DateTimeField()
    clusters_moved = serializers.IntegerField(help_text="Clusters whose brokers have followed.")
    brokers_left = serializers.IntegerField(help_text="Brokers that advertise another one yet.")
    operation_id = serializers.CharField(allow_null=True, help_text="The roll under way.")
    about = serializers.CharField(allow_null=True, help_text="The cluster of that roll.")
    waiting_for = serializers.CharField(
        allow_null=True, help_text="What is in the way, in English."
    )
    waiting_for_parts = waiting_field()
    ended_at = serializers.DateTimeField(allow_null=True)


class HostZooKeeperInputSerializer(Shape):
    connect = serializers.CharField(
        max_length=1_000,
        allow_null=True,
        help_text="The connect string that the host's agent uses now: the clusters with brokers on"
        " the host follow. null: no other cluster is begun.",
    )


class HostZooKeeperChangeSerializer(Shape):
    connect = serializers.CharField()
    by = serializers.CharField()
    began_at = serializers.DateTimeField()
    clusters_moved = serializers.IntegerField(help_text="Clusters whose brokers have followed.")
    brokers_left = serializers.IntegerField(
        help_text="Brokers on the host that use another one yet."
    )
    operation_id = serializers.CharField(allow_null=True, help_text="The roll under way.")
    about = serializers.CharField(allow_null=True, help_text="The cluster of that roll.")
    waiting_for = serializers.CharField(
        allow_null=True, help_text="What is in the way, in English."
    )
    waiting_for_parts = waiting_field()
    ended_at = serializers.DateTimeField(allow_null=True)
