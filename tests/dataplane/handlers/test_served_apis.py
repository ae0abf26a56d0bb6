"""One table of versions: what is offered, what is documented, and what Kafka 3.9 offers.

`kafka_apis.txt` is of Kafka's own classes (`tests/dataplane/wire/java/ApisOracle.java`): key, name,
lowest and highest version, the first flexible one.
"""

from __future__ import annotations

import pathlib
from typing import NamedTuple

import pytest

from dataplane.handlers.document import apis_document
from dataplane.handlers.registry import HANDLED
from dataplane.wire.apis import API_TABLE, ApiKey
from dataplane.wire.messages.api_versions import ApiVersionsRequest
from tests.dataplane.handlers.one_broker import OneBroker

ROOT = pathlib.Path(__file__).parents[3]
DOCUMENT = ROOT / "dataplane" / "APIS.md"
NEVER = 2**15 - 1
OF_KRAFT = {75}
"""Not among the APIs of a broker in ZooKeeper mode."""
BEYOND = {68: 1, 69: 1}
"""Highest versions of what Kafka 3.9 had not finished."""


NOT_SERVED = {58}
"""Envelope: a broker in ZooKeeper mode closes the connection that it comes on, as nothing forwards
requests before a migration to KRaft. To advertise it would promise what is never kept."""


class Facts(NamedTuple):
    key: int
    name: str
    lowest: int
    highest: int
    flexible_from: int


KAFKA = {
    int(key): Facts(int(key), name, int(lowest), int(highest), int(flexible))
    for key, name, lowest, highest, flexible in (
        line.split()
        for line in (ROOT / "tests/dataplane/wire/kafka_apis.txt").read_text().splitlines()
    )
}


@pytest.mark.parametrize("key", sorted(HANDLED), ids=lambda key: key.name)
def test_the_versions_are_kafkas(key: ApiKey) -> None:
    if key in OF_KRAFT:
        assert key not in KAFKA
        return
    facts = KAFKA[key]
    assert key.name == facts.name
    assert HANDLED[key] == (facts.lowest, BEYOND.get(key, facts.highest))
    assert min(API_TABLE[key].flexible_from, NEVER) == facts.flexible_from


def test_every_api_of_kafkas_brokers_is_served() -> None:
    assert KAFKA.keys() - HANDLED.keys() == NOT_SERVED
    assert HANDLED.keys() - KAFKA.keys() == OF_KRAFT


async def test_api_versions_says_what_is_served(broker: OneBroker) -> None:
    broker.connection.authenticated = lambda: None
    for version in range(5):
        request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        answer = await broker.ask(request, version)
        assert {
            row.api_key: (row.min_version, row.max_version) for row in answer.api_keys
        } == HANDLED
        assert len(answer.api_keys) == len(HANDLED)


def test_the_document_is_up_to_date() -> None:
    """`python -m dataplane.handlers.document > dataplane/APIS.md`"""
    assert DOCUMENT.read_text() == apis_document()
