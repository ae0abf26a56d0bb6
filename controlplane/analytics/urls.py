from django.urls import path

from controlplane.analytics import api

urlpatterns = [
    path("clusters/<str:cluster_id>/analytics/lag", api.LagView.as_view()),
    path("clusters/<str:cluster_id>/analytics/retention", api.RetentionView.as_view()),
    path(
        "clusters/<str:cluster_id>/analytics/retention/<str:topic>/history",
        api.RetentionHistoryView.as_view(),
    ),
    path("clusters/<str:cluster_id>/analytics/collector", api.CollectorView.as_view()),
    path("analytics/runs", api.RunsView.as_view()),
    path("analytics/runs/<str:run_id>", api.RunView.as_view()),
    path("analytics/runs/<str:run_id>/cancellation", api.RunCancellationView.as_view()),
]
