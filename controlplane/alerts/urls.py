from django.urls import path

from controlplane.alerts import api

urlpatterns = [
    path("alerts", api.AlertsView.as_view()),
    path("alerts/<str:alert_id>", api.AlertView.as_view()),
    path("alerts/<str:alert_id>/acknowledgement", api.AcknowledgementView.as_view()),
    path("alert-rules", api.AlertRulesView.as_view()),
    path("alert-overrides", api.AlertOverridesView.as_view()),
    path("alert-overrides/<str:override_id>", api.AlertOverrideView.as_view()),
    path("silences", api.SilencesView.as_view()),
    path("silences/<str:silence_id>", api.SilenceView.as_view()),
]
