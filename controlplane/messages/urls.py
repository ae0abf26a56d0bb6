from django.urls import path

from controlplane.messages import api

urlpatterns = [
    path("clusters/<str:cluster_id>/schema-registry", api.SchemaRegistryView.as_view()),
    path("clusters/<str:cluster_id>/schema-registry/check", api.SchemaRegistryCheckView.as_view()),
    path("clusters/<str:cluster_id>/offset-samples/<str:topic>", api.OffsetSampleView.as_view()),
    path("message-masks", api.MasksView.as_view()),
    path("message-masks/<str:mask_id>", api.MaskView.as_view()),
    path(
        "clusters/<str:cluster_id>/topics/<str:name>/messages/export",
        api.MessagesExportView.as_view(),
    ),
    path("clusters/<str:cluster_id>/topics/<str:name>/messages", api.MessagesView.as_view()),
]
