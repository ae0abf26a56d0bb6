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
