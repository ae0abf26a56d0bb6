"""Listening to a live stream over ASGI, as the server does for browsers."""

import asyncio
import json

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from console.feeds import Feed
from controlplane.tenants.models import Membership
from tests.controlplane.rest.asgi import application
from tests.controlplane.support import tenant_make

SECONDS = 5.0


class Listener:
    """One GET of a stream over ASGI, as the server would run it."""

    def __init__(self, target, headers):
        self.status, self.headers, self.content = None, {}, b""
        self.opened, self.ended = asyncio.Event(), asyncio.Event()
        self._gone = asyncio.Event()
        path, _, query = target.partition("?")
        scope = {
            "type": "http", "method": "GET", "path": path, "query_string": query.encode(),
            "headers": [(b"host", b"localhost"), *headers], "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8400), "scheme": "http", "http_version": "1.1",
            "root_path": "", "asgi": {"version": "3.0"},
        }  # fmt: skip
        self.task = asyncio.create_task(application(scope, self._receive(), self._send))

    def _receive(self):
        first = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive():
            if first:
                return first.pop()
            await self._gone.wait()
            return {"type": "http.disconnect"}

        return receive

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            rows = message["headers"]
            self.headers = {name.decode().lower(): value.decode() for name, value in rows}
            return
        self.content += message.get("body", b"")
        self.opened.set()
        if not message.get("more_body", False):
            self.ended.set()

    async def leave(self):
        self._gone.set()
        await asyncio.wait_for(self.task, SECONDS)

    def events(self):
        """What has come until now as (name, data); comments are passed over."""
        found = []
        for text in self.content.decode().split("\n\n")[:-1]:
            if not text.startswith(":"):
                name, data = text.split("\n")
                found.append(
                    (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
                )
        return found


async def close_databases():
    """Of the threads that streams read in: a feed's subject is read in the thread of all feeds."""

    def close():
        connections.close_all()
        return "closed"

    subscription = Feed(close).subscribe()
    assert json.loads(await asyncio.wait_for(anext(subscription), SECONDS)) == "closed"
    await subscription.aclose()
    await sync_to_async(connections.close_all)()


@sync_to_async
def sign_in(name="ada", slug="acme"):
    """(user, session key): a member of the tenant."""
    user = User.objects.filter(username=name).first() or User.objects.create_user(
        name, password="x"
    )
    Membership.objects.get_or_create(
        tenant=tenant_make(slug), user=user, defaults={"role": "viewer"}
    )
    client = Client()
    client.force_login(user)
    return user, client.cookies["penstock_session"].value
