from django.apps import AppConfig


class ReassignmentsConfig(AppConfig):
    name = "controlplane.reassignments"
    label = "reassignments"

    def ready(self) -> None:
        from controlplane.operations.kinds import register
        from controlplane.reassignments.kinds import Reassignment

        register(Reassignment())
