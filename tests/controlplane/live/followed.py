"""A runbook that is followed by REST: its checks are run, its acts become plans, the run is ended."""

import time

from controlplane.runbooks.catalogue import catalogue
from tests.controlplane.live.service import Refused

DEADLINE_S = 90.0


def patient(service, path, body):
    """A plan reads the brokers: one that hangs may be who is asked, and REST says try again."""
    end_s = time.monotonic() + DEADLINE_S
    while True:
        try:
            return service.post(path, body)
        except Refused as refused:
            if not refused.problem.get("retryable") or time.monotonic() > end_s:
                raise
            time.sleep(1.0)


class Followed:
    """A run of a runbook."""

    def __init__(self, service, runbook, **about):
        self.service, self.document = service, catalogue()[runbook]
        body = {"cluster_id": service.cluster_id, **about}
        self.path = f"/runbook-runs/{service.post(f'/runbooks/{runbook}/runs', body)['id']}"

    def check(self, name):
        (block,) = (each for each in self.document.checks if each.name == name)
        return self.service.post(f"{self.path}/checks/{block.number}")

    def until(self, name, outcome):
        return self.until_so(name, lambda found: found["outcome"] == outcome)

    def until_so(self, name, is_so):
        end_s = time.monotonic() + DEADLINE_S
        while not is_so(found := self.check(name)):
            assert time.monotonic() < end_s, str(found)
            time.sleep(0.5)
        return found

    def plan(self, kind, **blanks):
        (block,) = (each for each in self.document.acts if each.name == kind)
        entry = patient(self.service, f"{self.path}/acts/{block.number}", {"inputs": blanks})
        return self.service.get(f"/plans/{entry['plan_id']}")

    def end(self):
        return self.service.post(f"{self.path}/end", {"outcome": "resolved", "note": "done"})
