"""Messages by the schemas of a registry that speaks HTTP, which may be anybody's."""

import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from controlplane.messages import schemas
from controlplane.messages.models import SchemaRegistry
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for, tenant_make

pytestmark = pytest.mark.django_db
AVRO = {"type": "record", "name": "R", "fields": [{"name": "email", "type": "string"}]}
ANSWERS = {
    "/base/schemas/ids/1": (200, {"schema": json.dumps(AVRO)}),
    "/base/schemas/ids/2": (200, {"schema": "{}", "schemaType": "JSON"}),
    "/base/schemas/ids/3": (200, {"schema": "syntax", "schemaType": "PROTOBUF"}),
    "/base/schemas/ids/4": (500, {}),
    "/base/schemas/ids/5": (200, ["no schema"]),
    "/base/schemas/ids/6": (302, {}),
    "/base/schemas/ids/8": (200, {"schema": "x" * 2_000_000}),
    "/base/schemas/ids/9": (200, {"schema": "{}", "references": [{"name": "a"}]}),
}


class Registry(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        status, body = ANSWERS.get(self.path, (404, {"error_code": 40403}))
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Location", "/base/schemas/ids/1")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def registry(settings):
    settings.EGRESS_ALLOWED = ["127.0.0.0/8"]
    schemas._kept.clear()  # noqa: SLF001 - of other tests
    Registry.asked = []
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Registry)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/base"
    server.shutdown()
    server.server_close()


@pytest.fixture
def owner(world):
    return client_for(world.tenant)


@pytest.fixture
def where(world):
    return f"/api/v1/clusters/{world.cluster.id}/schema-registry"


def wire(number, raw):
    return b"\0" + number.to_bytes(4, "big") + raw


def shown(client, world, values):
    fill(world.gateway, "wired", [(0, None, value) for value in values])
    path = f"/api/v1/clusters/{world.cluster.id}/topics/wired/messages"
    rows = client.get(path, {"from": "beginning"}).json()["data"]
    return [row["value"] for row in rows]


def test_messages_are_read_by_their_schemas(owner, where, world, registry):
    assert owner.put(where, {"url": registry}, "json").status_code == 200
    avro, again, plain = shown(
        owner, world, [wire(1, b"\x0aada@x"), wire(1, b"\x0abob@x"), wire(2, b'{"n": 1}')]
    )
    assert (avro["schema"], json.loads(avro["text"])) == ("avro 1", {"email": "ada@x"})
    assert json.loads(again["text"]) == {"email": "bob@x"}
    assert (plain["schema"], json.loads(plain["text"])) == ("json 2", {"n": 1})
    assert Registry.asked == ["/base/schemas/ids/1", "/base/schemas/ids/2"]


@pytest.mark.parametrize(
    "case",
    [
        (3, "protobuf"),
        (4, "500"),
        (5, "no schema"),
        (6, "302"),
        (7, "no schema 7"),
        (8, "no schema"),
        (9, "refers"),
    ],
)
def test_what_the_registry_does_not_give_is_said_beside_the_bytes(
    owner, where, world, registry, case
):
    number, word = case
    owner.put(where, {"url": registry}, "json")
    found, again = shown(owner, world, [wire(number, b"\xff"), wire(number, b"\xff")])
    assert found["kind"] == again["kind"] == "hex"
    assert word in found["problem"]
    assert len(Registry.asked) == 1


def test_one_reading_asks_the_registry_so_often(owner, where, world, registry, monkeypatch):
    owner.put(where, {"url": registry}, "json")
    monkeypatch.setattr(schemas, "LOOKUPS_MAX", 2)
    fill(world.gateway, "many", [(0, None, wire(100 + n, b"{}")) for n in range(9)])
    path = f"/api/v1/clusters/{world.cluster.id}/topics/many/messages"
    problems = [row["value"]["problem"] for row in owner.get(path).json()["data"]]
    assert len(Registry.asked) == 2
    assert [text.startswith("Too many schemas") for text in problems] == [False] * 2 + [True] * 7
    owner.get(path)
    assert len(Registry.asked) == 4
    monkeypatch.setattr(schemas, "LOOKUPS_S_MAX", 0.0)
    owner.get(path)
    assert len(Registry.asked) == 4


def test_an_address_within_is_not_asked(owner, where, world, registry, settings):
    settings.EGRESS_ALLOWED = []
    owner.put(where, {"url": registry}, "json")
    (found,) = shown(owner, world, [wire(1, b"\xff")])
    assert found["kind"] == "hex"
    assert "public" in found["problem"]
    assert Registry.asked == []


def test_a_password_is_sealed_and_shown_nowhere(owner, where):
    body = {"url": "https://r.example.org/", "username": "u", "password": "hush-hush"}
    answer = owner.put(where, body, "json")
    assert answer.json()["has_password"] is True
    assert answer.json()["url"] == "https://r.example.org"
    assert "hush" not in answer.content.decode() + owner.get(where).content.decode()
    assert "hush" not in SchemaRegistry.objects.get().secrets_token
    kept = owner.put(where, {"url": "https://r.example.org", "username": "v"}, "json").json()
    assert kept["has_password"] is True
    moved = owner.put(where, {"url": "https://evil.example.org"}, "json").json()
    assert moved["has_password"] is False
    plain = {**body, "url": "http://r.example.org"}
    assert problem(owner.put(where, plain, "json"), 422)["errors"][0]["pointer"] == "/url"
    assert owner.delete(where).status_code == 204
    assert owner.get(where).json()["url"] == ""


@pytest.mark.parametrize(
    "url", ["ftp://x.example", "https://", "https://u:p@x.example", "https://x.example?a=b",
            "https://x.example:99999", "x", "http://x y.example"],
)  # fmt: skip
def test_urls_that_are_none(owner, where, url):
    assert problem(owner.put(where, {"url": url}, "json"), 422)["errors"][0]["pointer"] == "/url"


def test_owners_alone_set_it(world, owner, where):
    for role in ("operator", "viewer"):
        client = client_for(world.tenant, role)
        problem(client.put(where, {"url": "http://r.example.org"}, "json"), 403)
        problem(client.delete(where), 403)
        assert client.get(where).status_code == 200
    problem(client_for(tenant_make("rival")).get(where), 404)
