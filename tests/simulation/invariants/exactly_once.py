"""A chain that consumes, transforms and produces does so exactly once (KIP-98, KIP-129, KIP-447).

In the end, for each record of `feed` that was due: one output in `result` that read_committed shows, whatever was
aborted, fenced, killed and tried again; and the group's committed offset is behind the last record.
What an acknowledged commit wrote is there.
"""

from __future__ import annotations

from collections import Counter

from tests.simulation.invariants.base import Invariant


class ExactlyOnce(Invariant):
    name = "consumed and produced exactly once"

    def finish(self) -> None:
        chains = self.sim.chains
        seen = Counter((output.source, output.offset) for output in chains.outputs.values())
        wanted = {(source, offset) for source, all_ in chains.inputs.items() for offset in all_}
        lost = sorted(place for place in wanted - seen.keys() if self._was_due(*place))
        doubled = sorted(place for place, times in seen.items() if times > 1)
        strange = sorted(seen.keys() - wanted)
        for what, places in (("lost", lost), ("doubled", doubled), ("from nowhere", strange)):
            if places:
                self.broken(f"{len(places)} records are {what}, the first is {places[0]}")
        written = Counter(output.attempt for output in chains.outputs.values())
        for attempt in chains.ledger.attempts:
            if attempt.commit_acknowledged and not written[attempt.number]:
                self.broken(f"nothing of {attempt} is there, which was committed")
                return
        self.sim.oracle.count("records transformed exactly once", len(seen))

    def _was_due(self, source: int, offset: int) -> bool:
        """All but a late copy of what nobody acknowledged, which came after the chain's end."""
        chains = self.sim.chains
        written = {output.attempt for output in chains.outputs.values()}
        return (source, offset) in chains.fed or any(
            offset < attempt.end
            for attempt in chains.ledger.attempts
            if attempt.source == source and attempt.number in written
        )
