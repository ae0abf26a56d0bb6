"""Whether a cluster lets us in: asked before a client of the library is made.

The library takes a refused user, a certificate that does not fit or an address that is refused for
a broker that is away, and tries again until its time is up. A probe distinguishes them at once.
"""

from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.egress import Deadline
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.patience import bounded
from controlplane.gateway.probe import probe

PROBE_S_MAX = 2.0


def way_in(spec: ConnectionSpec) -> str:
    """The first of the addresses that lets us in.

    Raises:
        GatewayError: why none does: what does not pass by itself, where there is such a reason.
    """
    whole = Deadline(bounded(spec.timeout_s / 2))
    found: list[GatewayError] = []
    for address in spec.bootstrap_servers:
        if whole.is_over:
            break
        limit_s = min(PROBE_S_MAX, spec.timeout_s / 4, whole.left_s())
        result = probe(address, spec, timeout_s=limit_s)
        if result.ok:
            return address
        if not result.retriable:
            raise result.as_error()
        found.append(result.as_error())
    raise unreachable(found[0].detail if found else "no address is given")
