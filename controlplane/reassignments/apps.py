from django.apps import AppConfig


class ReassignmentsConfig(AppConfig):
    name = "controlplane.reassignments"
    label = "reassignments"

    def ready(self) -> None:
        from controlplane.clusters.rebuild_limits import use_limiter
        from controlplane.operations.operations import register
        from controlplane.reassignments.electing import LeadersElect
        from controlplane.reassignments.operations import Reassignment
        from controlplane.reassignments.rebuilding import LeasedLimiter

        use_limiter(LeasedLimiter())
        register(Reassignment())
        register(LeadersElect())
