"""The control plane's world and its one of everything, for pages that read them."""

from tests.controlplane.conftest import world
from tests.controlplane.rest.conftest import ids, pages_read_in_place

__all__ = ["ids", "pages_read_in_place", "world"]
