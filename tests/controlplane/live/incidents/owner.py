"""A tenant's owner who is signed in: what keys may not do."""

import http.cookiejar
import json
import urllib.request
import uuid
from typing import Any


class Owner:
    def __init__(self, address: str, login: dict[str, str]) -> None:
        self._address, self._token = address, ""
        jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self._token = self.call("GET", "/console/api/session")["csrf_token"]
        body = {"username": login["username"], "password": login["password"]}
        self.call("POST", "/console/api/login", body)
        self._token = self.call("GET", "/console/api/session")["csrf_token"]
        self._tenant = login["tenant"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
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
        with self._opener.open(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")
