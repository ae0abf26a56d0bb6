"""What one user may send of large requests."""

import pytest

from dataplane.handlers import registry
from dataplane.security.principal import Principal
from dataplane.server import large_requests
from dataplane.server.large_requests import BYTES_PER_S, LARGE_FROM_BYTES, LargeRequests
from dataplane.wire.apis import ApiKey
from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.dataplane.handlers.one_broker import OneBroker

SECOND = BYTES_PER_S


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_each_user_has_a_rate_of_its_own_and_the_first_goes_through():
    clock = Clock()
    large = LargeRequests(clock)
    assert large.wait_ms("mallory", 8 * SECOND) == 0
    assert large.wait_ms("mallory", LARGE_FROM_BYTES) == 8_000
    assert large.wait_ms("alice", SECOND) == 0
    clock.now_s += 7.9
    assert large.wait_ms("mallory", SECOND) == 100
    clock.now_s += 0.2
    assert large.wait_ms("mallory", SECOND) == 0, "what was not used does not heap up"
    assert large.wait_ms("mallory", SECOND) == 1_000


def test_users_are_remembered_no_longer_than_they_have_to_wait(monkeypatch):
    monkeypatch.setattr(large_requests, "USERS_MAX", 2)
    clock = Clock()
    large = LargeRequests(clock)
    assert [large.wait_ms(user, SECOND) for user in "abcd"] == [0, 0, 0, 1_000], "c and d share one"
    clock.now_s += 2
    assert [large.wait_ms(user, SECOND) for user in "ef"] == [0, 0]


@pytest.mark.parametrize(
    ("user", "key", "is_bounded"),
    [
        ("mallory", ApiKey.FIND_COORDINATOR, True),
        ("mallory", ApiKey.PRODUCE, False),
        ("root", ApiKey.FIND_COORDINATOR, False),
    ],
)
async def test_brokers_and_produces_are_not_put_off(user, key, is_bounded):
    broker = OneBroker(
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer", super_users="User:root"
    )
    await broker.authorizer.start()
    broker.info.principal = Principal.user(user)
    frame = bytearray(encode_request_frame(FindCoordinatorRequest(), 0, 7, "c")[4:])
    frame[:2] = int(key).to_bytes(2, "big")
    assert key in registry.HANDLED
    frame += bytes(SECOND)
    waits = [broker.dispatcher.wait_before(broker.connection, memoryview(frame)) for _ in range(2)]
    assert waits[0] == 0
    assert bool(waits[1]) == is_bounded
    await broker.authorizer.stop()
