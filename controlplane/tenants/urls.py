from django.urls import path

from controlplane.tenants import api

urlpatterns = [
    path("me", api.MeView.as_view()),
    path("tenants", api.TenantsView.as_view()),
    path("api-keys", api.ApiKeysView.as_view()),
    path("api-keys/<str:key_id>", api.ApiKeyView.as_view()),
    path("audit-events", api.AuditEventsView.as_view()),
    path("audit-events/export", api.AuditExportView.as_view()),
]
