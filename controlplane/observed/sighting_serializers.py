"""The shapes of what `sightings` tells, which every door that shows drift has."""

from rest_framework import serializers

from controlplane.common.serializers import ParamsField, Shape
from controlplane.observed.sightings import AUTHORS

AUTHOR_CHOICES = list(AUTHORS)


class DriftWaySerializer(Shape):
    kind = serializers.CharField(help_text="Of an operation, as `POST /plans` takes it.")
    inputs = serializers.DictField()


class DriftAuthorSerializer(Shape):
    by = serializers.ChoiceField(
        AUTHOR_CHOICES,
        help_text="`operation`: one of this service that did not succeed. `principal`: by the audit"
        " log of a broker.",
    )
    actor = serializers.CharField(allow_null=True, help_text="A user of this service or of Kafka.")
    operation_id = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True, help_text="By whose clock it was written.")
    host = serializers.CharField(allow_null=True, help_text="The client's address.")
    text = serializers.CharField()
    unread = serializers.CharField(
        allow_blank=True,
        help_text="Why audit logs may say more; empty: all that there are were read.",
    )
    unread_code = serializers.CharField(
        allow_null=True,
        help_text="Which sentence that is; null: none, or one of an earlier version.",
    )
    unread_params = ParamsField(help_text="What was put into it.")


class SightedSerializer(Shape):
    """A difference: how it is put and mended either way, since when it is there, and by whom."""

    text = serializers.CharField(help_text="What differs, a sentence in English.")
    text_code = serializers.CharField(
        help_text="Which sentence it is; it stays when the sentence is put another way."
    )
    params = ParamsField(help_text="What was put into the sentence; null: not set, or not known.")
    back = DriftWaySerializer(
        allow_null=True, help_text="The plan that makes the brokers as they were left."
    )
    back_problem = serializers.CharField(
        allow_blank=True, help_text="Why there is no way back, a sentence in English."
    )
    back_problem_code = serializers.CharField(
        allow_null=True, help_text="Which sentence that is; null: there is a way."
    )
    back_problem_params = ParamsField(help_text="What was put into it.")
    adopt = DriftWaySerializer(
        allow_null=True, help_text="The plan that takes over what the brokers have."
    )
    adopt_problem = serializers.CharField(
        allow_blank=True, help_text="Why nothing can be taken over, in the same way."
    )
    adopt_problem_code = serializers.CharField(allow_null=True)
    adopt_problem_params = ParamsField()
    equal_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was last seen as it was left; null: not known."
    )
    seen_at = serializers.DateTimeField(help_text="When it was first seen otherwise.")
    changed_at = serializers.DateTimeField(help_text="When it was first seen as it is now.")
    who = DriftAuthorSerializer()
