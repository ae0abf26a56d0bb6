from django.apps import AppConfig


class ReassignmentsConfig(AppConfig):
    name = "controlplane.reassignments"
    label = "reassignments"

    def ready(self) -> None:
        from controlplane.operations.operations import register
        from controlplane.reassignments.electing import LeadersElect
        from controlplane.reassignments.operations import Reassignment

        register(Reassignment())
        register(LeadersElect())
