"""The OpenAPI document: valid, up to date, free of our own notes, and what is really answered."""

import inspect
import json
import re

import pytest
from django.core.management import CommandError, call_command
from drf_spectacular.drainage import GENERATOR_STATS, warn
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from controlplane.common.serializers import Shape
from controlplane.operations.operations import kind_names, kind_of
from controlplane.tenants.views import TenantView
from tests.controlplane.rest.surface import (
    INPUTS,
    ON,
    document,
    make_way,
    operations,
    send,
)
from tests.controlplane.support import client_for

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
CSV = "text/csv"
LINES_OF_JSON = "application/x-ndjson"
JSON_TYPES = ("application/json", "application/problem+json")


def plain():
    """The document as it is served."""
    return json.loads(json.dumps(document(), default=str))


def faults(schema, value):
    """What jsonschema finds wrong with `value`, as short texts."""
    whole = {**schema, "components": plain()["components"]}
    found = Draft202012Validator(whole).iter_errors(value)
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


def component(name):
    return {"$ref": f"#/components/schemas/{name}"}


def test_it_is_a_valid_openapi_3_1_document():
    assert plain()["openapi"].startswith("3.1")
    assert list(OpenAPIV31SpecValidator(plain()).iter_errors()) == []


def test_the_committed_document_is_this_one(tmp_path):
    call_command("export_openapi", check=True)
    another = tmp_path / "openapi.json"
    another.write_text("{}")
    with pytest.raises(CommandError, match="out of date"):
        call_command("export_openapi", check=True, output=another)


def test_a_warning_of_the_generator_fails_the_export(tmp_path, monkeypatch):
    def generate(*_, **__):
        warn("Encountered 2 components with identical names")
        return plain()

    monkeypatch.setattr(SchemaGenerator, "get_schema", generate)
    wanted = tmp_path / "openapi.json"
    try:
        with pytest.raises(CommandError, match="warnings"):
            call_command("export_openapi", output=wanted)
    finally:
        GENERATOR_STATS.reset()
    assert not wanted.exists()


def test_the_frontend_s_tables_are_the_service_s(tmp_path):
    call_command("export_constants", check=True)
    other = tmp_path / "constants.ts"
    other.write_text("export const RISKS = [];")
    with pytest.raises(CommandError, match="out of date"):
        call_command("export_constants", check=True, output=other)
    call_command("export_constants", output=other)
    (tmp_path / "settings.ts").write_text("export const TOPIC_SETTINGS = {};")
    with pytest.raises(CommandError, match=r"settings\.ts is out of date"):
        call_command("export_constants", check=True, output=other)
    call_command("export_constants", output=other)
    (tmp_path / "sentences.ts").write_text("export const STEPS = {};")
    with pytest.raises(CommandError, match=r"sentences\.ts is out of date"):
        call_command("export_constants", check=True, output=other)


def test_it_says_where_it_is_served():
    assert [server["url"] for server in plain()["servers"]] == ["/"]


def test_no_docstring_of_ours_is_shown():
    text = json.dumps(document(), default=str)
    classes = [Shape, TenantView, *descendants(Shape), *descendants(TenantView)]
    notes = [inspect.cleandoc(found.__doc__) for found in classes if found.__doc__]
    assert len(notes) > 5
    assert [note for note in notes if json.dumps(note)[1:40] in text] == []


def descendants(base):
    return [found for sub in base.__subclasses__() for found in (sub, *descendants(sub))]


def test_every_answer_has_its_words():
    assert document()["paths"]
    for path, methods in document()["paths"].items():
        for method, spec in methods.items():
            assert spec["summary"], (method, path)
            assert all(answer["description"] for answer in spec["responses"].values()), path


@pytest.mark.parametrize("name", ["PlanInputRequest", "Plan"])
def test_every_kind_has_its_own_shape(name):
    found = plain()["components"]["schemas"][name]
    assert found["discriminator"]["propertyName"] == "kind"
    mapping = found["discriminator"]["mapping"]
    assert sorted(mapping) == kind_names()
    assert sorted(row["$ref"] for row in found["oneOf"]) == sorted(mapping.values())
    for kind, target in mapping.items():
        shape = plain()["components"]["schemas"][target.rsplit("/", 1)[1]]
        assert shape["properties"]["kind"]["const"] == kind
        assert {"kind", "inputs"} <= set(shape["required"])


def request_for(kind, ids, inputs):
    cluster_id = ids[ON.get(kind, "cluster")] if kind_of(kind).on_cluster else None
    return {"kind": kind, "cluster_id": cluster_id, "inputs": inputs}


@pytest.mark.django_db
@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_a_plan_is_asked_for_and_answered_as_the_document_says(world, ids, kind):
    asked = request_for(kind, ids, INPUTS[kind])
    assert faults(component("PlanInputRequest"), asked) == []
    make_way(world, kind)
    answer = client_for(world.tenant).post("/api/v1/plans", asked, format="json")
    assert answer.status_code == 201, answer.content
    assert faults(component("Plan"), answer.json()) == []


@pytest.mark.django_db
@pytest.mark.parametrize("kind", sorted(INPUTS))
def test_the_document_refuses_what_the_service_refuses(ids, kind):
    other = "offset.reset" if kind.startswith("acl.") else "acl.create"
    whole = request_for(kind, ids, INPUTS[kind])
    wrong = [
        request_for(kind, ids, {**INPUTS[kind], "surprise": 1}),
        {**whole, "surprise": 1},
        {**whole, "kind": other},
        {**whole, "kind": "topic.explode"},
        {**whole, "inputs": []},
    ]
    for asked in wrong:
        assert faults(component("PlanInputRequest"), asked), asked


@pytest.mark.django_db
@pytest.mark.parametrize("row", operations(), ids=str)
def test_answers_are_what_the_document_says(owner, ids, row):
    answer = send(owner, row, ids)
    spec = document()["paths"][row.path][row.method]
    assert str(answer.status_code) in spec["responses"], answer.content[:300]
    content = spec["responses"][str(answer.status_code)].get("content", {})
    if not answer.content:
        assert content == {} or "application/x-ndjson" in content  # no line is a file too
        return
    media_type = answer["Content-Type"]
    if media_type == LINES_OF_JSON:
        assert media_type in content
        assert all(json.loads(line)["id"] for line in answer.content.splitlines())
        return
    if media_type.partition(";")[0] == CSV:
        assert CSV in content
        assert answer.content.startswith(b'"'), "a head with the names"
        return
    assert media_type in JSON_TYPES
    schema = json.loads(json.dumps(content[media_type]["schema"], default=str))
    assert faults(schema, answer.json()) == []
    moments = [text for text in texts_in(answer.json()) if MOMENT.match(text)]
    assert [text for text in moments if not text.endswith("Z")] == []


def texts_in(value):
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in inner for text in texts_in(part)]
