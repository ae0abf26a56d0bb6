"""Service accounts and keys."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.administration.services import keys
from controlplane.common.problems import Conflict, NotFound
from controlplane.tenants.authentication import find_key
from controlplane.tenants.models import ApiKey, ServiceAccount
from controlplane.tenants.services import service_account_create
from tests.controlplane.administration.helpers import new_key
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db


def test_a_key_is_of_an_account(acme):
    key, _ = new_key(acme)
    again, _ = new_key(acme)
    assert key.service_account == again.service_account == ServiceAccount.objects.get(name="ci")
    rival = service_account_create(tenant=tenant_make("rival"), name="ci", actor=ACTOR)
    with pytest.raises(NotFound):
        new_key(acme, service_account_id=rival.id)


def test_the_keys_of_a_disabled_account_open_nothing(acme):
    key, text = new_key(acme)

    def disable(is_disabled):
        keys.service_account_update(
            tenant=acme,
            account_id=key.service_account_id,
            description="",
            is_disabled=is_disabled,
            actor=ACTOR,
        )

    disable(True)
    assert find_key(text) is None
    with pytest.raises(Conflict, match="disabled"):
        new_key(acme)
    with pytest.raises(Conflict, match="disabled"):
        rotate(acme, key)
    disable(False)
    assert find_key(text) == key


def rotate(tenant, key, overlap_s=3600, expires_at=None):
    return keys.api_key_rotate(
        tenant=tenant, key_id=key.id, overlap_s=overlap_s, expires_at=expires_at, actor=ACTOR
    )


def test_a_key_is_exchanged_with_overlap(acme):
    old, old_text = new_key(acme, expires_at=timezone.now() + timedelta(days=90))
    new, new_text, ends_at = rotate(acme, old)
    assert (new.scope, new.name, new.service_account) == ("write", "ci", old.service_account)
    assert timedelta(days=89) < new.expires_at - timezone.now() <= timedelta(days=90)
    assert find_key(old_text) == old
    assert find_key(new_text) == new
    assert new.last_used_at is None
    assert ends_at == ApiKey.objects.get(pk=old.pk).expires_at
    ApiKey.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    assert find_key(old_text) is None
    assert find_key(new_text) == new


def test_a_key_is_exchanged_at_once_and_only_once(acme):
    old, old_text = new_key(acme)
    waiting, _ = new_key(acme, name="other")
    new, new_text, _ = rotate(acme, old, overlap_s=0)
    assert find_key(old_text) is None
    assert (find_key(new_text), new.expires_at) == (new, None)
    with pytest.raises(NotFound):
        rotate(acme, old)
    rotate(acme, waiting)
    with pytest.raises(Conflict) as refused:
        rotate(acme, waiting)
    assert refused.value.code == "rotated"


def test_overlap_does_not_prolong_a_key(acme):
    soon = timezone.now() + timedelta(minutes=1)
    old, _ = new_key(acme, expires_at=soon)
    _, _, ends_at = rotate(acme, old)
    assert ends_at == soon == ApiKey.objects.get(pk=old.pk).expires_at


def test_a_rival_rotates_nothing(acme):
    key, text = new_key(acme)
    with pytest.raises(NotFound):
        rotate(tenant_make("rival"), key, overlap_s=0)
    assert find_key(text)


def test_accounts_and_their_keys_are_bounded(acme, monkeypatch):
    monkeypatch.setattr("controlplane.tenants.services.SERVICE_ACCOUNTS_MAX", 1)
    monkeypatch.setattr("controlplane.tenants.services.KEYS_LIVE_MAX", 1)
    new_key(acme)
    with pytest.raises(Conflict, match="has 1 keys"):
        new_key(acme)
    with pytest.raises(Conflict, match="at most 1 service accounts"):
        new_key(acme, name="other")
