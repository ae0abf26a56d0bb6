"""Shapes of the page of users and ACLs that the REST API has no like of."""

from rest_framework import serializers

from console.list_shapes import ListCountsSerializer
from controlplane.access.serializers import AccessDriftSerializer, ClientQuotaSerializer
from controlplane.common.serializers import ParamsField, Shape


class QuotasOfPageSerializer(ListCountsSerializer):
    """The page's own quotas, and how many there are."""

    data = ClientQuotaSerializer(many=True)  # type: ignore[assignment] # a field


class ChangedUserSerializer(Shape):
    username = serializers.CharField()
    text = serializers.CharField(help_text="How it is, and how it was left.")
    text_code = serializers.CharField()
    params = ParamsField()


class DriftOfPageSerializer(ListCountsSerializer, AccessDriftSerializer):
    """The page's own differences, how many there are, and which of the page's users have one."""

    changed_users = ChangedUserSerializer(many=True)
