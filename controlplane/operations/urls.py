from django.urls import path

from controlplane.operations import api

urlpatterns = [
    path("plans", api.PlansView.as_view()),
    path("plans/<str:plan_id>", api.PlanView.as_view()),
    path("operations", api.OperationsView.as_view()),
    path("operations/<str:operation_id>", api.OperationView.as_view()),
    path("operations/<str:operation_id>/cancellation", api.CancellationView.as_view()),
    path("operations/<str:operation_id>/pause", api.PauseView.as_view()),
    path("operations/<str:operation_id>/resumption", api.ResumptionView.as_view()),
    path("operations/<str:operation_id>/undo-plan", api.UndoPlanView.as_view()),
    path("operations/<str:operation_id>/secret", api.SecretView.as_view()),
]
