from django.urls import path

from controlplane.access import api

urlpatterns = [
    path("clusters/<str:cluster_id>/users", api.UsersView.as_view()),
    path(
        "clusters/<str:cluster_id>/users/<str:kafka_user>/client-config",
        api.UserClientConfigView.as_view(),
    ),
    path("clusters/<str:cluster_id>/overlaps", api.OverlapsView.as_view()),
    path("clusters/<str:cluster_id>/acls", api.AclsView.as_view()),
    path("clusters/<str:cluster_id>/quotas", api.QuotasView.as_view()),
    path("clusters/<str:cluster_id>/access/denials", api.DeniedAttemptsView.as_view()),
    path("clusters/<str:cluster_id>/access/drift", api.AccessDriftView.as_view()),
    path("clusters/<str:cluster_id>/access/matrix", api.AccessMatrixView.as_view()),
    path("clusters/<str:cluster_id>/access/decision", api.AccessDecisionView.as_view()),
    path("clusters/<str:cluster_id>/access/templates", api.AclTemplatesView.as_view()),
]
