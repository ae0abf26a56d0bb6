"""Messages by the schemas of a registry that speaks HTTP, which may be anybody's."""

import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

import pytest

from controlplane.messages import schemas, services
from controlplane.messages.masking import REPLACEMENT
from controlplane.messages.models import MaskRule, SchemaRegistry
from tests.controlplane.messages.conftest import fill
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for, tenant_make

pytestmark = pytest.mark.django_db
AVRO = {"type": "record", "name": "R", "fields": [{"name": "email", "type": "string"}]}
CURRENCY = {"type": "enum", "name": "m.Currency", "symbols": ["EUR", "CHF"]}
MONEY = {
    "type": "record",
    "name": "m.Money",
    "fields": [{"name": "units", "type": "long"}, {"name": "currency", "type": "Currency"}],
}
USES = {
    "type": "record",
    "name": "Uses",
    "fields": [{"name": "total", "type": "m.Money"}, {"name": "who", "type": "R"}],
}
PROTOBUF = json.loads(Path(__file__).with_name("protobuf_oracle.json").read_text())["files"]


def to(subject, version):
    return {"name": subject, "subject": subject, "version": version}


ANSWERS = {
    "/base/schemas/types": (200, ["JSON", "PROTOBUF", "AVRO"]),
    "/plain/schemas/types": (200, {"hello": "world"}),
    "/closed/schemas/types": (401, {"error_code": 401}),
    "/base/schemas/ids/1": (200, {"schema": json.dumps(AVRO)}),
    "/base/schemas/ids/2": (200, {"schema": "{}", "schemaType": "JSON"}),
    # A registry that does not serve Protobuf serialized serves its text all the same.
    "/base/schemas/ids/3": (200, {"schema": "syntax", "schemaType": "PROTOBUF"}),
    "/base/schemas/ids/3?format=serialized": (
        200,
        {"schema": "syntax = 3;", "schemaType": "PROTOBUF"},
    ),
    "/base/schemas/ids/4": (500, {}),
    "/base/schemas/ids/5": (200, ["no schema"]),
    "/base/schemas/ids/6": (302, {}),
    "/base/schemas/ids/8": (200, {"schema": "x" * 2_000_000}),
    "/base/schemas/ids/9": (200, {"schema": "{}", "references": [{"name": "a"}]}),
    "/base/schemas/ids/10": (
        200,
        {"schema": json.dumps(USES), "references": [to("money", 2), to("who", 1)]},
    ),
    "/base/subjects/money/versions/2": (
        200,
        {"schema": json.dumps(MONEY), "references": [to("cur/r€", 1)]},
    ),
    "/base/subjects/cur%2Fr%E2%82%AC/versions/1": (200, {"schema": json.dumps(CURRENCY)}),
    "/base/subjects/who/versions/1": (
        200,
        # In a circle, and again what was asked for before.
        {"schema": json.dumps(AVRO), "references": [to("who", 1), to("money", 2)]},
    ),
    "/base/schemas/ids/11": (200, {"schema": "text", "schemaType": "PROTOBUF"}),
    "/base/schemas/ids/11?format=serialized": (
        200,
        {
            "schema": PROTOBUF["order.proto"],
            "schemaType": "PROTOBUF",
            "references": [{**to("money-proto", 1), "name": "common/money.proto"}],
        },
    ),
    "/base/subjects/money-proto/versions/1?format=serialized": (
        200,
        {"schema": PROTOBUF["common/money.proto"], "schemaType": "PROTOBUF"},
    ),
    "/base/schemas/ids/12": (
        200,
        {"schema": "{}", "schemaType": "JSON", "references": [to("nobody", 1)]},
    ),
    "/base/schemas/ids/13": (200, {"schema": '"R"', "references": [to("nobody", 1)]}),
    "/base/schemas/ids/14": (200, {"schema": '"R"', "references": [to("deep", 1)]}),
    **{
        f"/base/subjects/deep/versions/{n}": (
            200,
            {"schema": json.dumps(AVRO), "references": [to("deep", n + 1)]},
        )
        for n in range(1, 30)
    },
    "/base/schemas/ids/15": (200, {"schema": '"R"', "references": [to("x", 1)] * 51}),
    "/base/schemas/ids/16": (200, {"schema": '"R"', "references": [to("other-kind", 1)]}),
    "/base/subjects/other-kind/versions/1": (200, {"schema": "{}", "schemaType": "JSON"}),
    "/base/schemas/ids/17": (200, {"schema": '"R"', "references": {"a": 1}}),
    "/base/schemas/ids/18": (200, {"schema": '"\ud800"'}),
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
        (3, "serialized"),
        (4, "500"),
        (5, "no schema"),
        (6, "302"),
        (7, "no schema 7"),
        (8, "no schema"),
        (9, "refers"),
        (13, "no version 1 of nobody"),
        (14, "10 deep"),
        (15, "more than 50"),
        (16, "another kind"),
        (17, "refers"),
        (18, "Avro"),
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
    # Once each, however many messages name it.
    assert len(Registry.asked) == len(set(Registry.asked))


def test_schemas_that_refer_to_others_are_read_with_them(owner, where, world, registry):
    owner.put(where, {"url": registry}, "json")
    avro, plain = shown(owner, world, [wire(10, b"\x0e\x02\x0aada@x"), wire(12, b'{"n": 1}')])
    assert json.loads(avro["text"]) == {
        "total": {"units": 7, "currency": "CHF"},
        "who": {"email": "ada@x"},
    }
    assert avro["schema"] == "avro 10"
    # JSON says what it holds by itself.
    assert (plain["schema"], plain["problem"]) == ("json 12", "")
    assert not any("nobody" in path for path in Registry.asked)


def test_protobuf_is_read_by_its_serialized_schema_and_imports(owner, where, world, registry):
    owner.put(where, {"url": registry}, "json")
    total = b"\x12\x05\x0a\x03EUR"
    first, again, broken = shown(
        owner,
        world,
        [wire(11, b"\x02\x02" + total), wire(11, b"\0\x0a\x01x"), wire(11, b"\x02\x02\xff")],
    )
    assert first["schema"] == "protobuf 11"
    assert json.loads(first["text"])["total"] == {"currency": "EUR", "units": 0}
    assert json.loads(again["text"]) == {"a": "x"}
    assert (broken["kind"], bool(broken["problem"])) == ("hex", True)
    assert len(Registry.asked) == 3


def test_masks_find_the_fields_of_protobuf(owner, where, world, registry):
    owner.put(where, {"url": registry}, "json")
    MaskRule.objects.create(
        tenant=world.tenant,
        topic_match="any",
        part="value",
        path="total.currency",
        act="replace",
    )
    good, bad = shown(
        owner, world, [wire(11, b"\x02\x02\x12\x05\x0a\x03EUR"), wire(11, b"\x02\x02\x12\x7fEUR")]
    )
    assert json.loads(good["text"])["total"]["currency"] == REPLACEMENT
    assert "EUR" not in json.dumps([good, bad])
    assert (bad["text"], bad["masked"]) == (REPLACEMENT, True)


def test_lookups_of_what_is_referred_to_count(owner, where, world, registry, monkeypatch):
    owner.put(where, {"url": registry}, "json")
    monkeypatch.setattr(schemas, "LOOKUPS_MAX", 3)
    (found,) = shown(owner, world, [wire(14, b"{}")])
    assert found["problem"].startswith("Too many schemas")
    assert len(Registry.asked) == 3


def test_schemas_are_kept_up_to_so_many_characters(owner, where, world, registry, monkeypatch):
    owner.put(where, {"url": registry}, "json")
    monkeypatch.setattr(schemas, "KEPT_CHARS_MAX", 300)
    shown(owner, world, [wire(1, b"\x0aada@x"), wire(11, b"\0"), wire(1, b"\x0aada@x")])
    assert sum(one.chars for one in schemas._kept.values()) <= 300  # noqa: SLF001 - the bound
    assert Registry.asked.count("/base/schemas/ids/1") == 2


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


def test_a_connection_is_tried_before_it_is_set(owner, where, registry, settings):
    check = f"{where}/check"
    assert owner.post(check, {"url": registry}, "json").json() == {"answers": True, "detail": ""}
    assert owner.get(where).json()["url"] == ""
    for path, word in (("/elsewhere", "no list"), ("/plain", "not as a schema registry")):
        found = owner.post(check, {"url": registry.replace("/base", path)}, "json").json()
        assert found["answers"] is False
        assert word in found["detail"]
    refused = owner.post(check, {"url": registry.replace("/base", "/closed")}, "json").json()
    assert "does not let this user in" in refused["detail"]
    settings.EGRESS_ALLOWED = []
    assert "public" in owner.post(check, {"url": registry}, "json").json()["detail"]
    password = {"url": registry, "password": "hush"}
    assert problem(owner.post(check, password, "json"), 422)["errors"][0]["pointer"] == "/url"


def test_a_kept_password_is_tried_at_its_own_address_alone(owner, where, monkeypatch):
    tried = []
    monkeypatch.setattr(services, "first_answer", tried.append)
    body = {"url": "https://r.example.org", "username": "u"}
    owner.put(where, {**body, "password": "hush-hush"}, "json")
    for url in ("https://r.example.org", "https://evil.example.org"):
        assert owner.post(f"{where}/check", {**body, "url": url}, "json").status_code == 200
    assert [(spec.url, spec.password) for spec in tried] == [
        ("https://r.example.org", "hush-hush"),
        ("https://evil.example.org", ""),
    ]


def test_owners_alone_set_it(world, owner, where):
    for role in ("operator", "viewer"):
        client = client_for(world.tenant, role)
        problem(client.put(where, {"url": "http://r.example.org"}, "json"), 403)
        problem(client.delete(where), 403)
        problem(client.post(f"{where}/check", {"url": "http://r.example.org"}, "json"), 403)
        assert client.get(where).status_code == 200
    problem(client_for(tenant_make("rival")).get(where), 404)
