"""What this process counts about itself."""

from prometheus_client import Counter, Gauge

REQUESTS_REFUSED = Counter(
    "penstock_requests_refused", "Requests refused before Django: body, length or header.", ["code"]
)
RATE_LIMITED = Counter(
    "penstock_rate_limited", "Requests refused because there were too many.", ["scope"]
)
COUNTED_ALONE = Counter(
    "penstock_counted_alone", "Counts kept in this process because Redis did not answer."
)
STREAMS_OPEN = Gauge("penstock_streams_open", "Live streams that are open.")
STREAMS_REFUSED = Counter("penstock_streams_refused", "Live streams refused: too many were open.")
STREAMS_ENDED = Counter(
    "penstock_streams_ended", "Live streams ended because the right to them was gone."
)
LEASES_HELD = Gauge("penstock_leases_held", "Rows that this process works on.")
LEASE_RENEWALS = Counter("penstock_lease_renewals", "Renewals of leases.", ["outcome"])
LEASES_LOST = Counter("penstock_leases_lost", "Leases that another worker took from this process.")
LEASES_REFUSED = Counter("penstock_leases_refused", "Rows not taken: too many were held already.")
WRITES_REFUSED = Counter(
    "penstock_fenced_writes_refused", "Writes not begun because the lease was lost or in doubt."
)
