from django.urls import path

from controlplane.alerts import api, operator_api

urlpatterns = [
    path("alerts", api.AlertsView.as_view()),
    path("alerts/<str:alert_id>", api.AlertView.as_view()),
    path("alerts/<str:alert_id>/acknowledgement", api.AcknowledgementView.as_view()),
    path("alert-rules", api.AlertRulesView.as_view()),
    path("alert-overrides", api.AlertOverridesView.as_view()),
    path("alert-overrides/<str:override_id>", api.AlertOverrideView.as_view()),
    path("silences", api.SilencesView.as_view()),
    path("silences/<str:silence_id>", api.SilenceView.as_view()),
    path("operator/alerts", operator_api.OperatorAlertsView.as_view()),
    path("operator/alerts/<str:host_alert_id>", operator_api.OperatorAlertView.as_view()),
    path(
        "operator/alerts/<str:host_alert_id>/acknowledgement",
        operator_api.OperatorAcknowledgementView.as_view(),
    ),
]
