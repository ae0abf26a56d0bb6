"""The shape of a plan's diff for kinds that change one thing; other kinds bring their own."""

from rest_framework import serializers

from controlplane.common.serializers import Shape


class ChangeDiffSerializer(Shape):
    """The thing before and after; null where there is none."""

    before = serializers.JSONField()
    after = serializers.JSONField()
