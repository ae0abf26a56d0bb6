"""What this process counts about itself."""

from prometheus_client import Counter

BODIES_REFUSED = Counter(
    "penstock_bodies_refused", "Request bodies refused before they were read.", ["code"]
)
