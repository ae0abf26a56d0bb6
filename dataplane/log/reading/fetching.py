"""What Fetch asks of a log beside `read`: a record to go on by, and whether to wait for more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.log.reading.record_search import RecordSearch
from dataplane.log.stored_log import StoredLog
from dataplane.model.integers import INT64_MAX

if TYPE_CHECKING:
    from dataplane.log.reading.log_slice import LogSlice

REACHES_ON: Final = INT64_MAX


class FetchableLog(StoredLog):
    """All calls come from one thread."""

    _search: RecordSearch | None = None  # made for the first consumer of a compacted log

    def past_empty(
        self, found: LogSlice, max_bytes: int, upper_bound_offset: int, *, min_one_batch: bool
    ) -> LogSlice:
        """What a consumer gets of a compacted log, where `read` with the same bounds gave `found`.

        It begins with a batch that holds a record it has not seen, if there is one before the
        bound. If not, it is `found`: the position of a consumer that goes by batches moves on.
        """
        search, start = self._search, found.base_offset
        if search is None:
            search = self._search = RecordSearch()
        if search.begins_with_record(found, start):
            return found
        offset = search.next_record(
            self._segments, start, upper_bound_offset, truncations=self.truncations
        )
        if offset is None:
            return found
        return self.read(offset, max_bytes, upper_bound_offset, min_one_batch=min_one_batch)

    def readable_bytes(self, found: LogSlice, upper_bound_offset: int) -> int:
        """Bytes from the beginning of `found`, which is not empty, to the bound.

        REACHES_ON if the bound lies in a later segment, as what one read gives ends with its own.
        """
        segments, end = self._segments, self.log_end_offset
        slot = segments.slot_of(upper_bound_offset - 1)
        segment = segments[slot]
        if segment.file is not found.file:
            return REACHES_ON
        if upper_bound_offset >= segments.end_of(slot, end):
            return segment.size - found.position
        position = -1
        if segment is self._active:
            position = self._tail.position_of(upper_bound_offset)
        if position < 0:
            position = segment.position_below(upper_bound_offset)
        return position - found.position
