"""The REST API with the browser's own session: what the pages show is compared with this."""

import time
import uuid
from typing import Any

from playwright.sync_api import BrowserContext


class Rest:
    def __init__(self, context: BrowserContext, url: str) -> None:
        self._request, self._url = context.request, url
        self._token = ""

    def sign_in(self, username: str, password: str) -> None:
        self.refresh_token()
        session = self.post("/console/api/login", {"username": username, "password": password})
        self._token = session["csrf_token"]

    def refresh_token(self) -> None:
        self._token = self.get("/console/api/session")["csrf_token"]

    def get(self, path: str) -> Any:
        answer = self._request.get(self._url + path)
        assert answer.ok, (path, answer.status, answer.text())
        return answer.json()

    def missing(self, path: str) -> bool:
        return self._request.get(self._url + path).status == 404

    def post(self, path: str, body: Any = None) -> Any:
        answer = self._request.post(
            self._url + path,
            data=body or {},
            headers={
                "X-CSRFToken": self._token,
                "Origin": self._url,
                "Idempotency-Key": str(uuid.uuid4()),
            },
        )
        assert answer.ok, (path, answer.status, answer.text())
        return answer.json()

    def run(self, kind: str, cluster_id: str | None, **inputs: Any) -> Any:
        """Plan, confirm, wait: for what a test needs beforehand, not for what it tests."""
        body = {"kind": kind, "cluster_id": cluster_id, "inputs": inputs}
        plan = self.post("/api/v1/plans", body)
        body = {"plan_id": plan["id"], "plan_hash": plan["plan_hash"]}
        operation = self.post("/api/v1/operations", {**body, "confirm": plan["confirm_phrase"]})
        return self.finished(operation["id"])

    def new_user(self, cluster_id: str, username: str, **inputs: Any) -> Any:
        """A user made by an ordinary operation: {username, password, mechanism}."""
        operation = self.run("user.create", cluster_id, username=username, **inputs)
        return self.post(f"/api/v1/operations/{operation['id']}/secret")

    def finished(self, operation_id: str) -> Any:
        def ended() -> Any:
            operation = self.get(f"/api/v1/operations/{operation_id}")
            return None if operation["finished_at"] is None else operation

        operation = wait_for(ended, 60)
        assert operation["state"] == "succeeded", operation
        return operation


def wait_for(found: Any, timeout_s: float) -> Any:
    """The first true answer of `found()`."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        answer = found()
        if answer:
            return answer
        assert time.monotonic() < deadline_s, f"{found.__qualname__}: not within {timeout_s:g} s"
        time.sleep(0.1)
