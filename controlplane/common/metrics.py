"""What this process counts about itself."""

from prometheus_client import Counter

BODIES_REFUSED = Counter(
    "penstock_bodies_refused", "Request bodies refused before they were read.", ["code"]
)
RATE_LIMITED = Counter(
    "penstock_rate_limited", "Requests refused because there were too many.", ["scope"]
)
COUNTED_ALONE = Counter(
    "penstock_counted_alone", "Counts kept in this process because Redis did not answer."
)
