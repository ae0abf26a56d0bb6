"""Somebody who is signed in: what keys may not do, and what is above all tenants."""

import http.cookiejar
import json
import urllib.request
import uuid
from typing import Any

from tests.controlplane.live.service import answer_to


class SignedIn:
    """The login of the demo: an owner of its tenant, and an operator of the platform."""

    cluster_id = None

    def __init__(self, address: str, login: dict[str, str]) -> None:
        self._address, self._token = address, ""
        jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self._token = self._call("GET", "/console/api/session")["csrf_token"]
        body = {"username": login["username"], "password": login["password"]}
        self._call("POST", "/console/api/login", body)
        self._token = self._call("GET", "/console/api/session")["csrf_token"]

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self.call("POST", path, {} if body is None else body)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """By REST, as `LiveService.call`; raises Refused."""
        return self._call(method, f"/api/v1{path}", body)

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {
            "Content-Type": "application/json",
            "X-CSRFToken": self._token,
            "Idempotency-Key": str(uuid.uuid4()),
        }
        request = urllib.request.Request(
            self._address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers=headers,
        )
        return answer_to(request, self._opener.open)
