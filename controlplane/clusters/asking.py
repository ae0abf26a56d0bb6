"""Asks hosts' agents through ZooKeeper.

A question is two ephemeral nodes of this process's session: one that the host reads, and an empty
one beside it that the agent writes its answer into. They are removed when the answer is there, or
late; a process that ends takes its own with it, and who finds a host full removes those that their
asker has left behind. Nothing is kept.
"""

import contextlib
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from controlplane.clusters import questions as form
from controlplane.clusters import zookeeper_tree as tree
from controlplane.clusters.questions import HostAnswer, HostQuestion, Unanswered
from controlplane.clusters.reports import object_of, text_of
from controlplane.clusters.zookeeper_tree import ANSWER_TIMEOUT_S, HOSTS
from controlplane.gateway.patience import bounded
from zookeeper_access.settings import ZooKeeperAccess

if TYPE_CHECKING:
    from kazoo.client import KazooClient
    from kazoo.security import ACL

WAIT_S = 4.0
"""From the moment when all questions of a call were put."""
STALE_MS = 60_000
"""A question that is older has no asker any more, whoever it was."""
VERSION_MAX = 50


def ask(
    client: "KazooClient", access: ZooKeeperAccess, questions: Sequence[HostQuestion]
) -> list[HostAnswer]:
    """Each answer at the place of its question. Raises KazooException, KazooTimeoutError."""
    hosts: dict[str, _HostAsked] = {}
    asked: list[_Asked | Unanswered] = []
    try:
        for question in questions:
            host_id = question.broker[0]
            if host_id not in hosts:
                hosts[host_id] = _HostAsked.look(client, access, host_id)
            asked.append(hosts[host_id].put(client, question))
        until_s = time.monotonic() + bounded(WAIT_S)
        return [
            each if isinstance(each, Unanswered) else each.answer(client, until_s) for each in asked
        ]
    finally:
        for each in asked:
            if isinstance(each, _Asked):
                each.remove(client)


@dataclass(slots=True)
class _Asked:
    """One question that was put."""

    host_id: str
    name: str
    heard_at_ms: int | None = None
    news: threading.Event = field(default_factory=threading.Event)

    @property
    def question_path(self) -> str:
        return f"{HOSTS}/{self.host_id}/asked/{self.name}"

    @property
    def answer_path(self) -> str:
        return f"{HOSTS}/{self.host_id}/answered/{self.name}"

    def answer(self, client: "KazooClient", until_s: float) -> HostAnswer:
        silent = form.silent(form.SILENT, self.heard_at_ms)
        while True:
            self.news.clear()
            try:
                data, _ = client.get_async(self.answer_path, watch=self._tell).get(
                    timeout=bounded(ANSWER_TIMEOUT_S)
                )
            except NoNodeError:
                return silent  # this process's session has ended meanwhile
            if data:
                return form.answer_of(data)
            left_s = until_s - time.monotonic()
            if left_s <= 0 or not self.news.wait(left_s):
                return silent

    def remove(self, client: "KazooClient") -> None:
        """The watch goes with the node. What cannot be removed goes with the session."""
        for path in (self.question_path, self.answer_path):
            with contextlib.suppress(KazooException, KazooTimeoutError):
                client.delete_async(path).get(timeout=bounded(ANSWER_TIMEOUT_S))

    def _tell(self, _event: Any) -> None:
        self.news.set()


@dataclass(frozen=True, slots=True)
class _HostAsked:
    """What is known of a host when it is asked. `acl` None: nodes are open to everybody."""

    host_id: str
    version: str
    answers: frozenset[str] | None
    acl: "list[ACL] | None"
    is_alive: bool
    heard_at_ms: int | None = None
    """When it wrote last what it writes by itself: its description, or what is free of it."""

    @classmethod
    def look(cls, client: "KazooClient", access: ZooKeeperAccess, host_id: str) -> "_HostAsked":
        path = f"{HOSTS}/{host_id}"
        try:
            data, described = client.get_async(path).get(timeout=bounded(ANSWER_TIMEOUT_S))
            acl = tree.acl_of(client, f"{path}/desired") if access.set_acl else None
        except NoNodeError:
            return cls(host_id, "", None, None, is_alive=False)
        life = client.exists_async(f"{path}/alive").get(timeout=bounded(ANSWER_TIMEOUT_S))
        free = client.exists_async(f"{path}/capacity").get(timeout=bounded(ANSWER_TIMEOUT_S))
        heard_at_ms = max(stat.mtime for stat in (described, free) if stat is not None)
        row = object_of(data) or {}
        kinds = row.get("answers")
        known = (
            frozenset(each for each in kinds if isinstance(each, str))
            if isinstance(kinds, list)
            else frozenset()
        )
        version = text_of(row, "agent_version")[:VERSION_MAX] or "unknown"
        return cls(host_id, version, known, acl, is_alive=life is not None, heard_at_ms=heard_at_ms)

    def put(self, client: "KazooClient", question: HostQuestion) -> _Asked | Unanswered:
        """The question's nodes, or why it is not asked."""
        if not self.is_alive:
            return form.silent(form.AWAY, self.heard_at_ms)
        if self.answers is not None and question.kind not in self.answers:
            return Unanswered(form.TOO_OLD.format(version=self.version))
        asked = _Asked(self.host_id, uuid.uuid4().hex, self.heard_at_ms)
        try:
            self._make(client, asked, question)
            is_one_too_many = self._is_full(client, asked)
        except BaseException:
            asked.remove(client)
            raise
        if is_one_too_many:
            asked.remove(client)
            return Unanswered(form.TOO_MANY)
        return asked

    def _make(self, client: "KazooClient", asked: _Asked, question: HostQuestion) -> None:
        """The place for the answer first: an agent may be quick."""
        for name in ("asked", "answered"):
            tree.ensure(client, f"{HOSTS}/{self.host_id}/{name}", self.acl)
        writable = None if self.acl is None else tree.answer_acl(self.acl)
        data = form.encode(question, wait_ms=round(bounded(WAIT_S) * 1000))
        for path, content, acl in (
            (asked.answer_path, b"", writable),
            (asked.question_path, data, self.acl),
        ):
            client.create_async(path, content, acl=acl, ephemeral=True).get(
                timeout=bounded(ANSWER_TIMEOUT_S)
            )

    def _is_full(self, client: "KazooClient", asked: _Asked) -> bool:
        """Whether too many are open, also without those that nobody waits for."""
        parent = f"{HOSTS}/{self.host_id}/asked"
        names = client.get_children_async(parent).get(timeout=bounded(ANSWER_TIMEOUT_S))
        if len(names) <= form.OPEN_MAX:
            return False
        own = client.exists_async(asked.question_path).get(timeout=bounded(ANSWER_TIMEOUT_S))
        left = 0
        for name in names:
            other = _Asked(self.host_id, name)
            stat = client.exists_async(other.question_path).get(timeout=bounded(ANSWER_TIMEOUT_S))
            # Both times are ZooKeeper's: no clock of ours, or of another process's machine.
            if stat is not None and own is not None and own.ctime - stat.ctime > STALE_MS:
                other.remove(client)
            else:
                left += stat is not None
        return left > form.OPEN_MAX
