"""What steps of several areas say in the same words. Pure."""

from collections.abc import Mapping
from typing import Final

SHARED: Final[Mapping[str, str]] = {
    # A step that restores found nothing of the operation.
    "back/as-before": "as before",
    # An adoption takes over what is there.
    "adopted/unchanged": "nothing is changed at the brokers",
    "partitions": "{partitions:one=# partition|other=# partitions}",
}
