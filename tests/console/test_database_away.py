"""What views outside DRF answer while the database is away; `tests/controlplane/live` takes it away."""

import json

import pytest
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import InterfaceError, OperationalError
from django.test import AsyncClient


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("path", ["/console/events", "/console/events/operations/op_1"])
async def test_a_stream_is_refused_as_any_request(monkeypatch, path, error):
    def fails(_request):
        raise error("the connection is lost")

    monkeypatch.setattr("console.events.access_of", fails)
    answer = await AsyncClient(raise_request_exception=False).get(path)
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    problem = json.loads(answer.content)
    assert problem["code"] == "unavailable"
    assert problem["retryable"] is True
    assert "Retry-After" in answer.headers


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
async def test_so_is_a_request_that_needs_it_before_or_after_its_view(monkeypatch, error):
    """Reading or storing the session: middleware, whose errors no other middleware is asked about."""

    def fails(*_):
        raise error("the connection is lost")

    monkeypatch.setattr(SessionMiddleware, "process_response", fails)
    answer = await AsyncClient(raise_request_exception=False).get("/console/api/session")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert json.loads(answer.content)["code"] == "unavailable"
    assert "Retry-After" in answer.headers


async def test_an_error_of_ours_stays_one(monkeypatch):
    def fails(_request):
        raise RuntimeError("a bug")

    monkeypatch.setattr("console.events.access_of", fails)
    answer = await AsyncClient(raise_request_exception=False).get("/console/events")
    assert answer.status_code == 500
