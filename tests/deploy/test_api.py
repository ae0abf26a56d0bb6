"""The launcher's REST calls against a real HTTP server that answers as the service does."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from deploy.local import api as module
from deploy.local.api import Api
from deploy.local.config import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAN = {"id": "pln_1", "plan_hash": "abc"}


class Service:
    """Answers `states` one after the other for the operation; the last one again and again."""

    def __init__(self) -> None:
        self.states: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, Any]] = []
        self.keys: list[str] = []
        self.refusals: list[int] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                self._answer(json.loads(self.rfile.read(size)))

            def _answer(self, body: Any) -> None:
                service.asked.append((self.command, self.path, body))
                found = PLAN if self.path.endswith("/plans") else service.next_state()
                service.keys.append(self.headers["Idempotency-Key"])
                text = json.dumps(found).encode()
                self.send_response(service.refusals.pop(0) if service.refusals else 200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def next_state(self) -> dict[str, Any]:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return {"id": "op_1", **state}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    made = Service()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def api(service: Service) -> Api:
    return Api(f"http://127.0.0.1:{service.server.server_port}", "key")


def operation(state: str, *, ended: bool, error: Any = None) -> dict[str, Any]:
    finished_at = "2026-01-01T00:00:00Z" if ended else None
    return {"state": state, "finished_at": finished_at, "error": error}


def test_an_operation_is_planned_confirmed_and_waited_for(service: Service, api: Api) -> None:
    service.states = [
        operation("pending", ended=False),
        operation("verifying", ended=False),
        operation("succeeded", ended=True),
    ]
    ended = api.run("topic.create", "cl_1", {"name": "orders"}, confirm="orders")
    assert ended["state"] == "succeeded"
    assert service.asked == [
        (
            "POST",
            "/api/v1/plans",
            {"kind": "topic.create", "cluster_id": "cl_1", "inputs": {"name": "orders"}},
        ),
        (
            "POST",
            "/api/v1/operations",
            {"plan_id": "pln_1", "plan_hash": "abc", "confirm": "orders"},
        ),
        ("GET", "/api/v1/operations/op_1", None),
        ("GET", "/api/v1/operations/op_1", None),
    ]


def test_a_state_of_a_later_version_is_waited_out(service: Service, api: Api) -> None:
    service.states = [operation("paused", ended=False), operation("succeeded", ended=True)]
    assert api.run("topic.create", "cl_1", {})["state"] == "succeeded"


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_another_end_is_said_with_its_reason(service: Service, api: Api, state: str) -> None:
    service.states = [operation(state, ended=True, error={"code": "name-taken"})]
    with pytest.raises(SetupError, match=rf"topic\.create ended as {state}: .*name-taken"):
        api.run("topic.create", "cl_1", {})


def test_an_operation_that_does_not_end_is_not_waited_for_ever(
    service: Service, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ENDS_WITHIN_S", 0.05)
    service.states = [operation("running", ended=False)]
    with pytest.raises(SetupError, match=r"has not ended within 0\.05 s: it is running"):
        api.run("topic.create", "cl_1", {})


def test_what_is_away_for_a_moment_is_asked_again_with_its_key(service: Service, api: Api) -> None:
    service.states = [{"data": []}]
    service.refusals = [503, 503]
    assert api.get("/clusters/kc_1/topics")["data"] == []
    service.refusals = [503]
    assert api.post("/clusters")["data"] == []
    assert len(service.keys) == 5
    assert len(set(service.keys[:3])) == len(set(service.keys[3:])) == 1


def test_what_stays_away_is_said(
    service: Service, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AWAY_WITHIN_S", 0.05)
    service.states = [{"detail": "no broker answers"}]
    service.refusals = [503] * 1000
    with pytest.raises(SetupError, match=r"answered 503: .*no broker answers"):
        api.get("/clusters/kc_1/topics")
    service.refusals = [409]
    with pytest.raises(SetupError, match="answered 409"):
        api.get("/clusters/kc_1/topics")
