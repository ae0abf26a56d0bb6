"""The few REST calls that the launcher makes, as any tenant would make them."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
import uuid
from http import HTTPStatus
from typing import Any

from deploy.local.config import SetupError

ENDS_WITHIN_S = 120.0
AWAY_WITHIN_S = 60.0
POLL_S = 0.2


class Api:
    """A small client of `/api/v1` with an API key."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base = f"{base_url}/api/v1"
        self._key = api_key

    def get(self, path: str) -> Any:
        return self._call("GET", path, None)

    def post(self, path: str) -> Any:
        return self._call("POST", path, {})

    def run(
        self, kind: str, cluster_id: str | None, inputs: dict[str, Any], confirm: str = ""
    ) -> Any:
        """Plan, confirm and wait: the same way through as the console's.

        Returns:
            the finished operation.

        Raises:
            SetupError: the plan is refused, or the operation did not succeed.
        """
        plan = self._call(
            "POST", "/plans", {"kind": kind, "cluster_id": cluster_id, "inputs": inputs}
        )
        body = {"plan_id": plan["id"], "plan_hash": plan["plan_hash"], "confirm": confirm}
        operation = self._call("POST", "/operations", body)
        deadline_s = time.monotonic() + ENDS_WITHIN_S
        # Which states are ends is the service's to know; it gives every ended one its time.
        while operation["finished_at"] is None:
            if time.monotonic() > deadline_s:
                raise SetupError(
                    f"{kind} has not ended within {ENDS_WITHIN_S:g} s: it is {operation['state']}"
                )
            time.sleep(POLL_S)
            operation = self._call("GET", f"/operations/{operation['id']}", None)
        if operation["state"] != "succeeded":
            raise SetupError(f"{kind} ended as {operation['state']}: {operation.get('error')}")
        return operation

    def _call(self, method: str, path: str, body: Any) -> Any:
        """Asked again while the service says that a part of it is away for now: at a start the
        brokers of the last run are still coming. The key makes that safe for what writes.

        Raises:
            SetupError: refused, or away for AWAY_WITHIN_S.
        """
        key = str(uuid.uuid4())
        deadline_s = time.monotonic() + AWAY_WITHIN_S
        while True:
            try:
                return self._once(method, path, body, key)
            except _AwayError as error:
                if time.monotonic() > deadline_s:
                    raise SetupError(str(error)) from error
            time.sleep(POLL_S)

    def _once(self, method: str, path: str, body: Any, key: str) -> Any:
        request = urllib.request.Request(
            self._base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._key}",
                "Content-Type": "application/json",
                "Idempotency-Key": key,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.loads(response.read() or b"null")
        except urllib.error.HTTPError as error:
            problem = error.read().decode(errors="replace")
            text = f"{method} {path} answered {error.code}: {problem[:500]}"
            kind = _AwayError if error.code == HTTPStatus.SERVICE_UNAVAILABLE else SetupError
            raise kind(text) from error
        except OSError as error:
            raise SetupError(f"{method} {path} did not answer: {error}") from error


class _AwayError(Exception):
    """503: the same request may be served in a moment."""
