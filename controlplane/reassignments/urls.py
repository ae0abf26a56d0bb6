from django.urls import path

from controlplane.reassignments import api, schedule_api

urlpatterns = [
    path("clusters/<str:cluster_id>/reassignments", api.ReassignmentsView.as_view()),
    path(
        "clusters/<str:cluster_id>/rebalance-schedule",
        schedule_api.RebalanceScheduleView.as_view(),
    ),
    path("operations/<str:reassignment_id>/moves", api.MovesView.as_view()),
    path("operations/<str:reassignment_id>/throttle", api.ThrottleView.as_view()),
]
