"""The local ZooKeeper's logins: made once, for us alone, and such as every part can use."""

from __future__ import annotations

import pytest

from dataplane.runtime.embedded_zookeeper import jaas
from deploy.local import stack, zookeeper_logins
from deploy.local.config import LocalConfig, SetupError
from zookeeper_access import files, keys
from zookeeper_access.settings import ZooKeeperAccess


def test_logins_are_made_once_and_for_us_alone(tmp_path):
    folder = tmp_path / "logins"
    users = zookeeper_logins.ensure(folder)
    assert zookeeper_logins.ensure(folder) == users
    assert len(set(users.values())) == 3
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600
    jaas(users)


def test_the_control_plane_owns_what_it_makes_and_a_member_owns_nothing(tmp_path):
    users = zookeeper_logins.ensure(tmp_path)
    found = {
        name: ZooKeeperAccess.parse(files.read(tmp_path / f"{name}.properties")) for name in users
    }
    assert found["controlplane"].acl() is not None
    assert found["controlplane"].owner() == "sasl:controlplane"
    assert found["member"].acl() is None
    assert found["member"].identity is None


def test_no_password_is_an_argument_of_a_part(tmp_path):
    config = LocalConfig.from_environment({"PENSTOCK_DATA_DIR": str(tmp_path)})
    parts = (stack.zookeeper(config), stack.agent(config))
    users = zookeeper_logins.ensure(config.host_login_file.parent)
    line = " ".join(word for part in parts for word in part.command)
    assert not [password for password in users.values() if password in line]
    assert str(config.host_login_file) in line
    environment = config.child_environment()["PENSTOCK_ZOOKEEPER_CONFIG"]
    assert environment == str(config.zookeeper_login_file("controlplane"))


def test_a_login_file_that_cannot_be_used_is_one_line(tmp_path):
    config = LocalConfig.from_environment({"PENSTOCK_DATA_DIR": str(tmp_path)})
    zookeeper_logins.ensure(config.host_login_file.parent)
    file = config.zookeeper_login_file("member")
    file.chmod(0o644)
    with pytest.raises(SetupError, match=r"member\.properties") as refused:
        stack.zookeeper(config)
    assert keys.SASL_PASSWORD not in str(refused.value)
