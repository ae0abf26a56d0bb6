"""A file that leaves piece by piece: it ends, and is no whole file, when the right to it does.

A reader may take as long as they like over it, and the next piece is only read when the last one
was taken. What was sent at first (200, and that the file is complete) cannot be taken back, so the
file says at its end why it ends, and the connection breaks: no client takes it for whole.
"""

import csv
import io
import json
import logging
import weakref
from collections.abc import AsyncGenerator

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from controlplane.audit.services import Actor
from controlplane.common.cut_answers import cut
from controlplane.common.problems import Problem, TooManyRequests
from controlplane.common.slots import Slots
from controlplane.tenants.standing import Watch

log = logging.getLogger(__name__)
OPEN_PER_TENANT, OPEN_MAX = 6, 60
"""Files that are leaving this process: each holds its names for as long as its reader likes."""
SEATS = Slots()


class ExportEndedError(Exception):
    """The file ends here, and is not whole; raised where no server could break a connection."""


class ExportResponse(StreamingHttpResponse):
    """A file of one tenant; its seat is free again when the response is closed, begun or not.

    Raises:
        TooManyRequests: no seat.
    """

    def __init__(
        self, lines: AsyncGenerator[str, None], actor: Actor, tenant_id: str, *, content_type: str
    ) -> None:
        seat = {f"tenant/{tenant_id}": OPEN_PER_TENANT, "process": OPEN_MAX}
        if not SEATS.take(seat):
            raise TooManyRequests(
                "Too many files are being read; end one, or wait.", code="too-many-exports"
            )
        # Also where it is never answered with, as what follows here fails.
        self._give_back = weakref.finalize(self, SEATS.give_back, seat)
        is_csv = content_type.startswith("text/csv")
        super().__init__(while_allowed(lines, actor, is_csv=is_csv), content_type=content_type)
        self["Cache-Control"] = "no-store"

    def close(self) -> None:
        """May be called more than once."""
        super().close()
        self._give_back()


async def while_allowed(
    lines: AsyncGenerator[str, None], actor: Actor, *, is_csv: bool
) -> AsyncGenerator[str, None]:
    """The pieces of a file, while the actor may go on.

    When the actor may not, or nobody can say whether, the last piece says why, and the connection
    breaks.

    Raises:
        ExportEndedError: after the last piece, where there is no connection.
    """
    watch = Watch(actor)
    try:
        async for piece in lines:
            yield piece
            await sync_to_async(watch.check)()
    except Problem as problem:
        yield last_word(problem, is_csv=is_csv)
        if not cut():
            raise ExportEndedError(problem.detail) from problem
        log.info("A file ends before it is whole: %s", problem.detail)
    finally:
        await lines.aclose()


def last_word(problem: Problem, *, is_csv: bool) -> str:
    """A line that says that the file is not whole."""
    if not is_csv:
        found = {name: problem.as_dict()[name] for name in ("status", "code", "title", "detail")}
        return json.dumps({"ended": found}, ensure_ascii=False) + "\n"
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([f"# This file is not whole ({problem.code}): {problem.detail}"])
    return text.getvalue()
