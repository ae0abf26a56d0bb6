from rest_framework import serializers

from controlplane.common.serializers import Shape, page_serializer
from controlplane.runbooks.document import OUTCOMES as DECIDED
from controlplane.runbooks.document import SEVERITIES
from controlplane.runbooks.models import ENTRY_OUTCOMES, OUTCOMES, RUN_MOVES

INT32_MAX = 2**31 - 1


class RunbookRowSerializer(Shape):
    id = serializers.CharField()
    title = serializers.CharField()
    alerts = serializers.ListField(child=serializers.CharField())
    severity = serializers.ChoiceField(SEVERITIES)
    owner = serializers.CharField()
    last_verified = serializers.DateField(
        allow_null=True, help_text="When it was last followed on running processes; null: never."
    )
    is_stale = serializers.BooleanField(help_text="Nobody has verified it for 90 days.")
    est_minutes = serializers.IntegerField()
    automation = serializers.IntegerField(
        help_text="0: text; 1: checks that run; 2: acts that are plans; 3: by itself."
    )


class RunbookListSerializer(Shape):
    data = RunbookRowSerializer(many=True)  # type: ignore[assignment] # a field


class RunbookBlankSerializer(Shape):
    name = serializers.CharField()
    default = serializers.JSONField(help_text="null: there is none.")
    required = serializers.BooleanField()  # type: ignore[assignment] # a field


class RunbookPartSerializer(Shape):
    type = serializers.ChoiceField(["text", "check", "act"])
    text = serializers.CharField(help_text="Markdown; of a check or an act its title.")
    number = serializers.IntegerField(
        allow_null=True, help_text="Of a check among the checks, of an act among the acts."
    )
    name = serializers.CharField(allow_null=True, help_text="The check, or the kind of operation.")
    inputs = RunbookBlankSerializer(many=True, help_text="What is filled in.")
    values = serializers.DictField(child=serializers.JSONField())


class RunbookSectionSerializer(Shape):
    title = serializers.CharField()
    parts = RunbookPartSerializer(many=True)


class RunbookDecisionSerializer(Shape):
    check = serializers.CharField()
    outcome = serializers.ChoiceField(DECIDED)
    then = serializers.CharField()


class RunbookSerializer(RunbookRowSerializer):
    sections = RunbookSectionSerializer(many=True)
    decisions = RunbookDecisionSerializer(many=True)


class RunbookRunSerializer(Shape):
    id = serializers.CharField()
    runbook = serializers.CharField()
    cluster_id = serializers.CharField(allow_null=True)
    context = serializers.DictField(child=serializers.JSONField())  # type: ignore[assignment] # a field
    state = serializers.ChoiceField(RUN_MOVES.choices)
    note = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    ended_by = serializers.CharField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)


RunbookRunPageSerializer = page_serializer(RunbookRunSerializer)


class RunbookEntrySerializer(Shape):
    type = serializers.ChoiceField(["check", "act"])
    number = serializers.IntegerField()
    name = serializers.CharField()
    outcome = serializers.ChoiceField(ENTRY_OUTCOMES)
    text = serializers.CharField(allow_blank=True)
    numbers = serializers.DictField(child=serializers.JSONField())
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="When what it was judged by was read; null: nobody has read it."
    )
    age_s = serializers.FloatField(allow_null=True)
    took_ms = serializers.IntegerField()
    plan_id = serializers.CharField(allow_null=True, help_text="The plan that an act has made.")
    operation_id = serializers.CharField(allow_null=True, help_text="Once that was confirmed.")
    actor = serializers.CharField()
    created_at = serializers.DateTimeField()


class RunbookRunDetailSerializer(RunbookRunSerializer):
    entries = RunbookEntrySerializer(many=True)
    silence = serializers.DictField(child=serializers.JSONField())


class RunbookRunInputSerializer(Shape):
    """What the run is about: of an alert, what the alert is about."""

    cluster_id = serializers.CharField(
        max_length=40, allow_null=True, help_text="null: it is about no cluster."
    )
    group = serializers.CharField(max_length=255, required=False, trim_whitespace=False)
    topic = serializers.CharField(max_length=249, required=False)
    broker = serializers.IntegerField(min_value=0, max_value=INT32_MAX, required=False)
    operation_id = serializers.CharField(max_length=40, required=False)
    user = serializers.CharField(max_length=100, required=False)
    alert_id = serializers.CharField(max_length=40, required=False)


class RunbookActInputSerializer(Shape):
    inputs = serializers.DictField(
        child=serializers.JSONField(),
        help_text="Of the act's blanks; what the run is about is filled in already.",
    )


class RunbookEndInputSerializer(Shape):
    outcome = serializers.ChoiceField(OUTCOMES)
    note = serializers.CharField(max_length=2000, allow_blank=True, default="")
