"""A member and a key with grants over one team's topics and groups; what they must never see."""

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from controlplane.common.grants import LIMITED, OPERATOR, Grant, Match, Over, Pattern
from controlplane.tenants.services import api_key_create, membership_ensure
from tests.controlplane.support import ACTOR

MAIN = Pattern(Match.LITERAL, "main")
TEAM = Pattern(Match.PREFIX, "team-a-")
GRANTS = [
    Grant(role=OPERATOR, clusters=MAIN, over=over, names=TEAM) for over in (Over.TOPIC, Over.GROUP)
]
ROWS = [grant.as_row() for grant in GRANTS]
# Names that only look as if the grants covered them, and names of others.
HIDDEN_TOPICS = ("secret-orders", "team-ab", "Team-a-x", "team_a_x", "xteam-a-x")
HIDDEN = (*HIDDEN_TOPICS, "secret-readers", "secret-cluster", "secret-user", "secret-reason")


def key_of(tenant, rows=ROWS, maker_id=None):
    _, text = api_key_create(
        tenant=tenant, name="narrow", scope=LIMITED, grants=rows, actor=ACTOR, maker_id=maker_id
    )
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def member_of(tenant, grants=GRANTS, name="anna"):
    user, _ = User.objects.get_or_create(username=name)
    membership_ensure(tenant=tenant, user=user, role=LIMITED, grants=grants)
    client = APIClient(raise_request_exception=False)
    client.force_login(user)
    return client


def unseen(text):
    """What of the others' is in an answer."""
    return [name for name in (*HIDDEN, "secret-made") if name in text]
