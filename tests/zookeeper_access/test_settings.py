"""What the keys mean together, and that no message and no dump shows a credential."""

from __future__ import annotations

import pytest
from kazoo.security import Permissions

from dataplane.config import BROKER_CONFIGS
from zookeeper_access import keys
from zookeeper_access.settings import READ_WRITE, AccessError, Login, ZooKeeperAccess, node_acl

SECRET = "correct.horse.battery"
SASL = {keys.SASL_USERNAME: "member", keys.SASL_PASSWORD: SECRET}
IDENTITY = {keys.ACL_USERNAME: "kc_1", keys.ACL_PASSWORD: SECRET}


def test_nothing_set_is_no_login_and_open_nodes():
    access = ZooKeeperAccess.parse({"zookeeper.connect": "x:1"})
    assert access == ZooKeeperAccess()
    assert access.acl() is None


def test_every_key_is_a_broker_key_and_passwords_are_sensitive():
    assert set(BROKER_CONFIGS) >= keys.ALL
    for key in keys.ALL:
        assert BROKER_CONFIGS[key].is_sensitive == key.endswith("password")
        assert BROKER_CONFIGS[key].is_read_only


def test_nodes_belong_to_the_identity_and_the_administrators_alone():
    access = ZooKeeperAccess.parse(
        {**SASL, **IDENTITY, keys.SET_ACL: "true", keys.ACL_ADMINISTRATORS: "sasl:controlplane"}
    )
    owner, administrator = access.acl()
    assert (owner.id.scheme, owner.perms) == ("digest", Permissions.ALL)
    assert owner.id.id.startswith("kc_1:")
    assert SECRET not in owner.id.id
    assert tuple(administrator.id) == ("sasl", "controlplane")


def test_without_an_identity_nodes_belong_to_the_sasl_login():
    access = ZooKeeperAccess.parse({**SASL, keys.SET_ACL: "true"})
    assert [tuple(entry.id) for entry in access.acl()] == [("sasl", "member")]


def test_an_owner_may_be_kept_from_changing_the_acl():
    owner, _ = node_acl("sasl:a", owner_permissions=READ_WRITE, administrators=("sasl:b", "sasl:b"))
    assert owner.perms & Permissions.ADMIN == 0
    assert owner.perms | Permissions.ADMIN == Permissions.ALL


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({keys.SET_ACL: "true"}, keys.SET_ACL),
        ({keys.SET_ACL: "yes"}, keys.SET_ACL),
        ({keys.SASL_USERNAME: "a"}, keys.SASL_PASSWORD),
        ({keys.SASL_PASSWORD: SECRET}, keys.SASL_USERNAME),
        ({**SASL, keys.SASL_USERNAME: 'a"; user_super="x'}, keys.SASL_USERNAME),
        ({**IDENTITY, keys.ACL_USERNAME: "a:b"}, keys.ACL_USERNAME),
        ({**IDENTITY, keys.ACL_PASSWORD: f"{SECRET}\n"}, keys.ACL_PASSWORD),
        ({**IDENTITY, keys.ACL_PASSWORD: "short"}, keys.ACL_PASSWORD),
        ({keys.ACL_ADMINISTRATORS: "world:anyone"}, keys.ACL_ADMINISTRATORS),
        ({keys.ACL_ADMINISTRATORS: "controlplane"}, keys.ACL_ADMINISTRATORS),
        ({keys.SSL_ENABLE: "true"}, keys.TRUSTSTORE_LOCATION),
    ],
)
def test_what_cannot_be_meant_is_refused_by_key_without_showing_it(settings, key):
    with pytest.raises(AccessError) as refused:
        ZooKeeperAccess.parse(settings)
    assert refused.value.key == key
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({keys.TRUSTSTORE_LOCATION: "/nowhere.pem"}, keys.TRUSTSTORE_LOCATION),
        ({keys.TRUSTSTORE_TYPE: "JKS"}, keys.TRUSTSTORE_TYPE),
        ({keys.KEYSTORE_TYPE: "PKCS12"}, keys.KEYSTORE_TYPE),
        ({keys.CLIENT_SOCKET: "org.apache.zookeeper.ClientCnxnSocketNIO"}, keys.CLIENT_SOCKET),
        ({keys.ENABLED_PROTOCOLS: "TLSv1.1"}, keys.ENABLED_PROTOCOLS),
        ({keys.ENDPOINT_IDENTIFICATION: "LDAPS"}, keys.ENDPOINT_IDENTIFICATION),
        ({keys.CRL_ENABLE: "true"}, keys.CRL_ENABLE),
        ({keys.OCSP_ENABLE: "true"}, keys.OCSP_ENABLE),
    ],
)
def test_tls_that_would_not_be_what_was_asked_for_is_refused(settings, key):
    base = {keys.SSL_ENABLE: "true", keys.TRUSTSTORE_LOCATION: "/nowhere.pem"}
    with pytest.raises(AccessError) as refused:
        ZooKeeperAccess.parse({**base, **settings})
    assert refused.value.key == key


def test_a_dump_shows_no_password():
    access = ZooKeeperAccess.parse({**SASL, **IDENTITY})
    assert SECRET not in repr(access)
    assert SECRET not in repr(Login("a", SECRET))
