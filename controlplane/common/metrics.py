"""What this process counts about itself, and what all processes count together.

Workers have no metrics page: what they count goes to the tally, and the web process shows it.
"""

from dataclasses import dataclass

from prometheus_client import Counter, Gauge

from controlplane.common.tally import DROPPED, TALLY


@dataclass(frozen=True, slots=True)
class SharedCounter:
    """A counter of all processes; `name` is without `_total`, `label` for those that have one."""

    name: str
    text: str
    label: str | None = None

    def inc(self, amount: float = 1, *, of: str = "") -> None:
        """Add; `of` is the label's value."""
        TALLY.add(self.name, amount, **({self.label: of} if self.label is not None else {}))


REQUESTS_REFUSED = Counter(
    "penstock_requests_refused", "Requests refused before Django: body, length or header.", ["code"]
)
RATE_LIMITED = Counter(
    "penstock_rate_limited", "Requests refused because there were too many.", ["scope"]
)
COUNTED_ALONE = Counter(
    "penstock_counted_alone", "Counts kept in this process because Redis did not answer."
)
IDEMPOTENCY_KEYS = Counter(
    "penstock_idempotency_keys",
    "Requests whose Idempotency-Key was known: replayed, under-way, reused, gone; or too-many.",
    ["outcome"],
)
PRECONDITIONS_FAILED = Counter(
    "penstock_preconditions_failed", "Writes refused because their If-Match did not match."
)
STREAMS_OPEN = Gauge("penstock_streams_open", "Live streams that are open.")
STREAMS_REFUSED = Counter(
    "penstock_streams_refused",
    "Live streams refused: so many were open of the user, the tenant or the process.",
    ["whose"],
)
PASSWORDS_REFUSED = Counter(
    "penstock_passwords_refused", "Passwords not hashed: too many others were being hashed."
)
STREAMS_ENDED = Counter(
    "penstock_streams_ended", "Live streams ended because the right to them was gone."
)
AUDIT_REFUSALS_LEFT_OUT = Counter(
    "penstock_audit_refusals_left_out",
    "Refused writes without a row in the audit record, by why.",
    ["why"],
)

LEASE_RENEWALS = SharedCounter("penstock_lease_renewals", "Renewals of leases.", "outcome")
LEASES_LOST = SharedCounter(
    "penstock_leases_lost", "Leases that another worker took from the one that held them."
)
LEASES_REFUSED = SharedCounter(
    "penstock_leases_refused", "Rows not taken: the process held too many already."
)
WRITES_REFUSED = SharedCounter(
    "penstock_fenced_writes_refused", "Writes not begun because the lease was lost or in doubt."
)
TASKS_PUT_BACK = SharedCounter(
    "penstock_tasks_put_back", "Tasks put back: their tenant or cluster was at its bound.", "queue"
)
TASKS_MOVED = SharedCounter(
    "penstock_tasks_moved", "Tasks moved to the queue where they belong.", "queue"
)
TASKS_DROPPED = SharedCounter(
    "penstock_tasks_dropped_as_copies", "Tasks dropped: another copy of them was on its way."
)
FIRST_LOOKS_REFUSED = SharedCounter(
    "penstock_first_looks_refused",
    "Plans refused because their tenant's other addresses did not answer yet.",
)
PARTS_REFUSED = SharedCounter(
    "penstock_page_parts_refused", "Parts of pages refused: too many of their tenant waited."
)
DELIVERIES_SENT = SharedCounter(
    "penstock_deliveries_sent", "Notifications that their receiver took, by kind.", "kind"
)
DELIVERIES_FAILED = SharedCounter(
    "penstock_deliveries_failed", "Attempts to send a notification that failed.", "kind"
)
DELIVERIES_DEAD = SharedCounter(
    "penstock_deliveries_dead", "Notifications that are not tried again by themselves.", "kind"
)
DELIVERIES_LEFT_OUT = SharedCounter(
    "penstock_deliveries_left_out",
    "Notifications not written: too many waited for their destination.",
    "kind",
)
SERIES_DROPPED = SharedCounter(
    DROPPED, "Counts given up: too many series waited for Redis in a process."
)
SHARED_COUNTERS = (
    LEASE_RENEWALS,
    LEASES_LOST,
    LEASES_REFUSED,
    WRITES_REFUSED,
    TASKS_PUT_BACK,
    TASKS_MOVED,
    TASKS_DROPPED,
    FIRST_LOOKS_REFUSED,
    PARTS_REFUSED,
    DELIVERIES_SENT,
    DELIVERIES_FAILED,
    DELIVERIES_DEAD,
    DELIVERIES_LEFT_OUT,
    SERIES_DROPPED,
)
"""Those that the page shows as they are; `gateway.passage` has more, which it sums up."""
