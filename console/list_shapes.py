"""How many rows a list has, and which of them a page shows."""

from rest_framework import serializers

from controlplane.common.serializers import Shape


class ListCountsSerializer(Shape):
    page = serializers.IntegerField(help_text="The one that is shown: at most the last.")
    size = serializers.IntegerField(help_text="Rows a page.")
    matched = serializers.IntegerField()
    total = serializers.IntegerField(help_text="Without search and filters.")
