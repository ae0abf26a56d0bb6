from rest_framework import serializers

from controlplane.common.serializers import (
    NextPlanSerializer,
    ParamsField,
    ProbeSerializer,
    ProblemCoreSerializer,
    Shape,
    page_serializer,
)
from controlplane.operations.extents import CODES
from controlplane.operations.locks import Mode, Resource
from controlplane.operations.risks import RISK_CHOICES
from controlplane.operations.rolled import ROLLED_MOVES
from controlplane.operations.states import (
    PLAN_STATE_CHOICES,
    STATE_CHOICES,
    STEP_STATE_CHOICES,
)

CLUSTER_ID_MAX = 40


class KindField(serializers.CharField):
    """The name of a registered kind; `schema` puts the names into the document."""


class DetailPartSerializer(Shape):
    code = serializers.CharField(
        help_text="Which sentence it is; it stays when the sentence is put another way. One that"
        " begins with lead/ leads in the next one, with tail/ ends the one before, with remains/"
        " is a whole sentence."
    )
    params = ParamsField(help_text="What was put into the sentence, as in warnings.")
    text = serializers.CharField(help_text="The sentence in English.")


class StepSerializer(Shape):
    index = serializers.IntegerField()
    name = serializers.CharField()
    title = serializers.CharField()
    title_code = serializers.CharField(
        allow_null=True, help_text="What the title says; null: a sentence of another version."
    )
    phase = serializers.ChoiceField(["execute", "verify", "always", "restore", "teardown"])
    state = serializers.ChoiceField(STEP_STATE_CHOICES)
    attempts = serializers.IntegerField()
    detail = serializers.CharField(
        allow_blank=True, help_text="What it does or has come to, in English."
    )
    detail_parts = DetailPartSerializer(
        many=True,
        help_text="The sentences of the detail, one after the other. Empty: it has no codes, as"
        " what a step failed with, or a step of an earlier version.",
    )
    progress_done = serializers.IntegerField(allow_null=True)
    progress_total = serializers.IntegerField(allow_null=True)
    unit = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class LockSerializer(Shape):
    """A lock that the operation holds; a cluster and its placement have no name."""

    resource = serializers.ChoiceField([str(each) for each in Resource])
    name = serializers.CharField(allow_blank=True)
    mode = serializers.ChoiceField([str(each) for each in Mode])


class ProgressSerializer(Shape):
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    unit = serializers.CharField()


class OperationErrorSerializer(ProblemCoreSerializer):
    step = serializers.CharField(required=False)
    detail_parts = DetailPartSerializer(
        many=True,
        required=False,
        help_text="The sentences of the detail, as `detail_parts` of a step. Not there: it has no"
        " codes, as what a broker says.",
    )
    kafka_error = serializers.CharField(required=False)
    rollback_incomplete = serializers.CharField(required=False)


class SeenSerializer(Shape):
    """What a producer with acks=all saw of a broker's restart."""

    gap_s = serializers.FloatField(
        help_text="The longest time between two acknowledgements of one partition."
    )
    partition = serializers.IntegerField(allow_null=True, help_text="Of the probe's topic.")
    failed = serializers.IntegerField(help_text="Records that were not acknowledged at all.")
    error = serializers.CharField(allow_blank=True)
    is_whole = serializers.BooleanField(help_text="Else a part of the time was seen by nobody.")


class RolledSerializer(Shape):
    """One broker of those that an operation restarts in turn."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(ROLLED_MOVES.choices)
    since = serializers.DateTimeField(allow_null=True)
    restarted_at = serializers.DateTimeField(allow_null=True)
    registered_at = serializers.DateTimeField(allow_null=True)
    in_sync_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField(allow_blank=True, help_text="What was seen of it, in English.")
    note_parts = DetailPartSerializer(
        many=True,
        required=False,
        help_text="The sentences of the note, as `detail_parts` of a step. Empty or not there: it"
        " has no codes.",
    )
    seen = SeenSerializer(allow_null=True, help_text="null: not measured")


class RollSerializer(Shape):
    brokers = RolledSerializer(many=True, help_text="In the planned order.")
    waiting_for = serializers.ListField(
        child=serializers.CharField(), help_text="What is in the way of the next broker."
    )
    waiting_for_parts = serializers.ListField(
        child=DetailPartSerializer(many=True),
        required=False,
        help_text="Of each of them its parts, as `remains_parts`. Not there: the roll is of an"
        " earlier version.",
    )


class OutcomeSerializer(Shape):
    cluster_id = serializers.CharField(required=False)
    roll = RollSerializer(required=False)
    next_plan = NextPlanSerializer(required=False)


class OperationSerializer(Shape):
    id = serializers.CharField()
    kind = KindField()
    state = serializers.ChoiceField(STATE_CHOICES)
    rolling_back = serializers.BooleanField()
    cluster_id = serializers.CharField(allow_null=True)
    resource = serializers.CharField()
    summary = serializers.CharField(help_text="What it does, a sentence in English.")
    summary_code = serializers.CharField(
        allow_null=True,
        help_text="Which sentence it is; it stays when the sentence is put another way. null: the"
        " plan is of an earlier version.",
    )
    summary_params = ParamsField(help_text="What was put into the sentence, as in warnings.")
    plan_id = serializers.CharField()
    steps = StepSerializer(many=True)
    progress = ProgressSerializer()
    eta_seconds = serializers.FloatField(allow_null=True)
    error = OperationErrorSerializer(allow_null=True)
    locks = LockSerializer(many=True, help_text="Until it has ended; the first 20 of them.")
    cancellable = serializers.BooleanField()
    pausable = serializers.BooleanField(help_text="It can be paused, or go on when it is paused.")
    paused_at = serializers.DateTimeField(allow_null=True, help_text="null: it is not paused")
    paused_by = serializers.CharField(allow_blank=True)
    revertible = serializers.BooleanField()
    remains = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="What a failed or cancelled operation has left, until an undo has taken it away;"
        " null: not known.",
    )
    remains_parts = serializers.ListField(
        child=DetailPartSerializer(many=True),
        allow_null=True,
        help_text="Of each sentence of `remains` its parts, as `detail_parts` of a step. Empty: it"
        " has no codes, as one of an earlier version.",
    )
    reverts = serializers.CharField(allow_null=True)
    reverted_by = serializers.CharField(allow_null=True)
    has_secret = serializers.BooleanField()
    outcome = OutcomeSerializer(allow_null=True)
    actor = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


OperationPageSerializer = page_serializer(OperationSerializer)


class WarningSerializer(Shape):
    code = serializers.CharField()
    severity = serializers.ChoiceField(["info", "warning", "danger"])
    text = serializers.CharField(help_text="the sentence in English")
    text_code = serializers.CharField(
        required=False,
        help_text="which sentence it is; it stays when the sentence is put another way. Not there:"
        " the plan is of an earlier version.",
    )
    params = ParamsField(
        required=False,
        help_text="what was put into the sentence: the end of a name says the unit (_bytes, _ms,"
        " _s, _bytes_per_s, _at); `extents`, `quotas`, `restores` and `final` hold codes",
    )
    risk = serializers.ChoiceField(RISK_CHOICES, required=False)


class GapSerializer(Shape):
    reason = serializers.CharField()
    brokers = serializers.ListField(child=serializers.IntegerField())


class ExtentSerializer(Shape):
    name = serializers.CharField()
    code = serializers.ChoiceField(
        list(CODES),
        required=False,
        help_text="What is counted; plans of before it was said have none.",
    )
    title = serializers.CharField(help_text="The same in words.")
    value = serializers.IntegerField(allow_null=True, help_text="null: not known")
    at_least = serializers.IntegerField(help_text="What is known of it.")
    names = serializers.ListField(child=serializers.CharField(), allow_null=True)
    hidden = serializers.IntegerField(help_text="Of what has names, how many you do not see.")
    unknown = GapSerializer(many=True)
    limit = serializers.IntegerField(
        allow_null=True,
        help_text="The plan can be confirmed up to here; names: when no other has come;"
        " null: it may change.",
    )


class UndoSerializer(Shape):
    restores = serializers.CharField()
    stays = serializers.ListField(
        child=serializers.CharField(), help_text="What undoing does not put right."
    )


class ImpactSerializer(Shape):
    summary = serializers.CharField(help_text="What the plan does, a sentence in English.")
    summary_code = serializers.CharField(
        required=False,
        help_text="Which sentence it is; it stays when the sentence is put another way. Not there:"
        " the plan is of an earlier version.",
    )
    summary_params = ParamsField(
        required=False, help_text="What was put into the sentence, as in warnings."
    )
    warnings = WarningSerializer(many=True)
    risks = serializers.ListField(
        child=serializers.ChoiceField(RISK_CHOICES),
        required=False,
        help_text="With any of them the name in confirm_phrase is to be typed.",
    )
    undo = UndoSerializer(required=False, allow_null=True, help_text="null: there is no way back")
    blast_radius = ExtentSerializer(many=True, required=False)
    probes = ProbeSerializer(
        many=True, required=False, help_text="of a way in: how far each address let Penstock in"
    )
    bytes_to_move = serializers.IntegerField(
        required=False, allow_null=True, help_text="null: not known in full"
    )
    records_reread = serializers.IntegerField(required=False)
    records_skipped = serializers.IntegerField(required=False)
    records_first_read = serializers.IntegerField(required=False)
    seconds_estimated = serializers.FloatField(required=False, allow_null=True)


# What plans of every kind have; `shapes` adds what is the kind's own.
class PlanCoreSerializer(Shape):
    id = serializers.CharField()
    resource = serializers.CharField()
    impact = ImpactSerializer()
    plan_hash = serializers.CharField()
    confirm_phrase = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(PLAN_STATE_CHOICES)
    revertible = serializers.BooleanField()
    reverts = serializers.CharField(allow_null=True)
    operation_id = serializers.CharField(allow_null=True)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


# The frame that is checked first; what `inputs` may hold is the kind's own matter (`shapes`).
class PlanInputSerializer(Shape):
    kind = serializers.CharField(max_length=60)
    cluster_id = serializers.CharField(max_length=CLUSTER_ID_MAX, allow_null=True, default=None)
    inputs = serializers.DictField()


class OperationInputSerializer(Shape):
    plan_id = serializers.CharField(max_length=40)
    plan_hash = serializers.CharField(max_length=64)
    confirm = serializers.CharField(
        max_length=300, allow_blank=True, allow_null=True, default="", trim_whitespace=False
    )
    reason = serializers.CharField(max_length=2000, allow_blank=True, default="")


class SecretSerializer(Shape):
    username = serializers.CharField()
    password = serializers.CharField()
    mechanism = serializers.CharField()
