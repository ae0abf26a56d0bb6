"""Answers what the control plane asks about this host's brokers (`questions`)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from dataplane.agent import log_files, partition_files
from dataplane.agent import questions as form
from dataplane.agent.administered import read_administered
from dataplane.agent.denials import read_denials
from dataplane.agent.log_lines import read_log
from dataplane.agent.questions import (
    AdministeredQuery,
    DenialsQuery,
    LogQuery,
    Question,
    QuestionError,
)
from dataplane.ports.coordinator import CoordinatorError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator, Watch

log = logging.getLogger(__name__)

AT_ONCE: Final = 2
"""Questions that are worked on at the same time; the brokers need the host more."""
LOG_OLD_FILES: Final = 1
"""What a broker keeps beside its `broker.log`."""
AUDIT_OLD_FILES: Final = 4
"""What it keeps beside its `broker.audit.log` (`compose.main`)."""


class Answering:
    """Until it is closed. `home_of` gives a desired broker's directory; None: it is none of ours.
    `further_of` are its log directories on other disks, by name.

    Nothing of it touches what runs: files are read, and one node each is written.
    """

    def __init__(
        self,
        host_id: str,
        coordinator: Coordinator,
        *,
        clock: Clock,
        home_of: Callable[[str], Path | None],
        further_of: Callable[[str], Mapping[str, Path]] = lambda _: {},
    ) -> None:
        self._host_id = host_id
        self._coordinator = coordinator
        self._clock = clock
        self._home_of = home_of
        self._further_of = further_of
        self._open: dict[str, asyncio.Task[None]] = {}
        self._room = asyncio.Semaphore(AT_ONCE)
        self._watch: Watch | None = None

    def start(self) -> None:
        path = form.asked_path(self._host_id)
        self._watch = self._coordinator.watch_children(path, self._on_asked)

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_asked(self, names: list[str]) -> None:
        for gone in self._open.keys() - set(names):
            self._open.pop(gone).cancel()  # nobody waits for it any more
        for name in sorted(names):
            if len(self._open) >= form.OPEN_MAX:
                return  # it is seen again when one of these has gone
            if name not in self._open:
                self._open[name] = asyncio.get_running_loop().create_task(
                    self._answer(name, self._clock.monotonic_ms()), name=f"question-{name}"
                )

    async def _answer(self, name: str, seen_ms: int) -> None:
        async with self._room:
            try:
                data, _ = await self._coordinator.get(form.asked_path(self._host_id, name))
                answer = await self._answer_to(data, seen_ms)
                if answer is not None:
                    path = form.answered_path(self._host_id, name)
                    await self._coordinator.set(path, answer)
            except NoNodeError:
                return  # its asker has given up
            except CoordinatorError as error:
                log.info("question %s is not answered: %s", name, error)

    async def _answer_to(self, data: bytes, seen_ms: int) -> bytes | None:
        """None when its asker has stopped waiting."""
        now_ms = self._clock.realtime_ms()
        try:
            question = form.decode_question(data)
            if self._clock.monotonic_ms() - seen_ms > question.wait_ms:
                return None
            home = self._home_of(question.broker)
            if home is None:
                raise QuestionError("no such broker is desired of this host")
            further = self._further_of(question.broker)
            found = await asyncio.to_thread(_read, home, question, further)
            return form.encode_answer(found, at_ms=now_ms)
        except QuestionError as error:
            return form.encode_refusal(str(error), at_ms=now_ms)
        except OSError as error:
            # Without the path: it is the host's own affair.
            return form.encode_refusal(f"the host cannot read it: {error.strerror}", at_ms=now_ms)
        except Exception:
            log.exception("a question could not be answered")
            return form.encode_refusal("the agent failed; its own log says more", at_ms=now_ms)


def _read(home: Path, question: Question, further: Mapping[str, Path]) -> dict[str, Any]:
    """Blocking. Raises QuestionError, OSError."""
    query = question.query
    if isinstance(query, LogQuery):
        with log_files.opened(home / "broker.log", old_files=LOG_OLD_FILES) as pieces:
            return read_log(pieces, query)
    if isinstance(query, DenialsQuery):
        with log_files.opened(home / "broker.audit.log", old_files=AUDIT_OLD_FILES) as pieces:
            return read_denials(pieces, query)
    if isinstance(query, AdministeredQuery):
        with log_files.opened(home / "broker.audit.log", old_files=AUDIT_OLD_FILES) as pieces:
            return read_administered(pieces, query)
    return partition_files.read(home / "data", query, further)
