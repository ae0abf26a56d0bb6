from django.urls import path

from controlplane.topics import api

urlpatterns = [
    path("clusters/<str:cluster_id>/retention-leases", api.RetentionLeasesView.as_view()),
    path("clusters/<str:cluster_id>/topics", api.TopicsView.as_view()),
    path(
        "clusters/<str:cluster_id>/topics/<str:name>/config-history",
        api.ConfigHistoryView.as_view(),
    ),
    path("clusters/<str:cluster_id>/topics/<str:name>/producers", api.ProducersView.as_view()),
    path("clusters/<str:cluster_id>/topics/<str:name>/replicas", api.ReplicasView.as_view()),
    path(
        "clusters/<str:cluster_id>/topics/<str:name>/partitions/<str:partition>/segments",
        api.SegmentsView.as_view(),
    ),
    path("clusters/<str:cluster_id>/topics/<str:name>", api.TopicView.as_view()),
]
