"""A SASL exchange has one order: whatever comes out of it fails the exchange for good."""

from __future__ import annotations

import functools
import itertools

import pytest

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.security.sasl import SaslServerSession, SaslState
from dataplane.security.scram import ScramMechanism
from dataplane.security.scram_exchange import ScramExchange

MECHANISM = "SCRAM-SHA-256"
LEGAL = {
    (SaslState.INITIAL, "handshake"),
    (SaslState.HANDSHAKEN, "token"),
    (SaslState.CHALLENGED, "token"),
}


async def nobody(_mechanism: object, _name: str) -> None:
    return None


def session_in(state: SaslState) -> SaslServerSession:
    scram = functools.partial(
        ScramExchange,
        ScramMechanism.SCRAM_SHA_256,
        nobody,
        FakeEntropy(1),
        decoy_secret=b"s",
    )
    session = SaslServerSession({MECHANISM: scram})
    if state is not SaslState.INITIAL:
        session.handshake(MECHANISM)
    session.state = state
    return session


async def take(session: SaslServerSession, message: str) -> None:
    if message == "handshake":
        session.handshake(MECHANISM)
    else:
        await session.authenticate(b"n,,n=alice,r=nonce")


@pytest.mark.parametrize(
    ("state", "message"),
    [pair for pair in itertools.product(SaslState, ("handshake", "token")) if pair not in LEGAL],
)
async def test_what_is_not_due_is_refused_and_nothing_is_accepted_after_it(
    state: SaslState, message: str
) -> None:
    session = session_in(state)
    with pytest.raises(KafkaError) as refused:
        await take(session, message)
    assert refused.value.code is ErrorCode.ILLEGAL_SASL_STATE
    assert session.state is SaslState.FAILED
    for again in ("handshake", "token"):
        with pytest.raises(KafkaError) as still:
            await take(session, again)
        assert still.value.code is ErrorCode.ILLEGAL_SASL_STATE
    assert session.identity is None


async def test_the_legal_moves_lead_on() -> None:
    session = session_in(SaslState.INITIAL)
    session.handshake(MECHANISM)
    assert session.state is SaslState.HANDSHAKEN
    await session.authenticate(b"n,,n=alice,r=nonce")
    assert session.state is SaslState.CHALLENGED
