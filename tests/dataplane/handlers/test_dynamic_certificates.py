"""Certificates changed by IncrementalAlterConfigs: a usable one at once, a broken one not at all."""

from __future__ import annotations

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.compose.listeners import Listeners
from dataplane.model.errors import ErrorCode
from dataplane.server.socket_binding import bind
from tests.certificates import Authority
from tests.dataplane.handlers.one_broker import ME, OneBroker
from tests.dataplane.handlers.test_thread_counts import incremental, result

KEY = "listener.name.client.ssl.keystore.location"


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "ours")


@pytest.fixture
async def served(authority, tmp_path):
    """A broker with a TLS listener, and the file of its certificate."""
    keystore = tmp_path / "keystore.pem"
    authority.issue("broker").replace(keystore)
    broker = OneBroker(
        **{
            "listeners": "CLIENT://127.0.0.1:0",
            "listener.security.protocol.map": "CLIENT:SSL",
            "inter.broker.listener.name": "CLIENT",
            "ssl.keystore.type": "PEM",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(authority.file),
            KEY: str(keystore),
        }
    )
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    listeners = Listeners(broker.configs.broker_config, broker.metrics, bind)
    await listeners.bind()
    await listeners.serve(
        broker.dispatcher, broker.configs.broker_config, broker.handlers.quotas.addresses
    )
    # As the broker's process puts them together.
    broker.config_admin.on_broker_change(listeners.check_tls, listeners.follow_tls_files)
    broker.configs.on_change(
        lambda *_entity: listeners.follow_tls_files(broker.configs.broker_config)
    )
    yield broker, listeners, keystore
    listeners.stop()
    listeners.close()
    await broker.configs.stop()


def end_s(listeners):
    return listeners.certificate_expiries_s()["CLIENT"]


async def test_another_file_is_served_at_once_and_a_broken_one_is_refused(served, authority):
    broker, listeners, keystore = served
    before_s = end_s(listeners)
    longer = authority.issue("longer", ends_in_h=100)
    broken = longer.with_name("broken.pem")
    broken.write_text("no PEM")
    for dry in (True, False):
        for wrong in (str(broken), "/none"):
            answer = await result(broker, incremental(str(ME), KEY, wrong, dry=dry))
            assert answer.error_code == ErrorCode.INVALID_CONFIG
            assert "ssl.keystore.location" in answer.error_message
    assert end_s(listeners) == before_s
    assert broker.configs.broker_config.listener_overrides[KEY] == str(keystore)
    answer = await result(broker, incremental(str(ME), KEY, str(longer), dry=True))
    assert (answer.error_code, end_s(listeners)) == (0, before_s)
    answer = await result(broker, incremental(str(ME), KEY, str(longer), dry=False))
    assert answer.error_code == 0
    assert end_s(listeners) > before_s + 24 * 3600


async def test_the_same_path_again_has_the_file_read_again(served, authority):
    broker, listeners, keystore = served
    assert (
        await result(broker, incremental(str(ME), KEY, str(keystore), dry=False))
    ).error_code == 0
    before_s = end_s(listeners)
    authority.issue("longer", ends_in_h=100).replace(keystore)
    assert end_s(listeners) == before_s
    assert (
        await result(broker, incremental(str(ME), KEY, str(keystore), dry=False))
    ).error_code == 0
    assert end_s(listeners) > before_s + 24 * 3600


async def test_a_broken_file_holds_up_no_other_change(served):
    broker, listeners, keystore = served
    before_s = end_s(listeners)
    keystore.write_text("no PEM")
    answer = await result(broker, incremental(str(ME), "log.retention.ms", "60000", dry=False))
    assert answer.error_code == 0
    listeners.follow_tls_files()
    assert end_s(listeners) == before_s


async def test_a_secret_is_not_stored_in_clear(served):
    broker, _listeners, _keystore = served
    for key in ("ssl.key.password", "listener.name.client.ssl.key.password"):
        answer = await result(broker, incremental(str(ME), key, "hunter2-secret", dry=False))
        assert answer.error_code == ErrorCode.INVALID_CONFIG
        assert "hunter2" not in answer.error_message
