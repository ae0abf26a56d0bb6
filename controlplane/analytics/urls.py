from django.urls import path

from controlplane.analytics import api, rollup_api
from controlplane.analytics.insights import api as insights
from controlplane.analytics.insights import objective_api
from controlplane.analytics.throughput import api as throughput

urlpatterns = [
    path("clusters/<str:cluster_id>/analytics/lag", api.LagView.as_view()),
    path("clusters/<str:cluster_id>/analytics/pace/<path:group>", api.PaceView.as_view()),
    path("clusters/<str:cluster_id>/analytics/retention", api.RetentionView.as_view()),
    path(
        "clusters/<str:cluster_id>/analytics/retention/<str:topic>/history",
        api.RetentionHistoryView.as_view(),
    ),
    path("clusters/<str:cluster_id>/analytics/collector", api.CollectorView.as_view()),
    path(
        "clusters/<str:cluster_id>/analytics/rollups/cluster",
        rollup_api.ClusterRollupsView.as_view(),
    ),
    path(
        "clusters/<str:cluster_id>/analytics/rollups/topics", rollup_api.TopicRollupsView.as_view()
    ),
    path(
        "clusters/<str:cluster_id>/analytics/rollups/groups", rollup_api.GroupRollupsView.as_view()
    ),
    path(
        "clusters/<str:cluster_id>/analytics/retention/<str:topic>/what-if",
        insights.WhatIfView.as_view(),
    ),
    path(
        "clusters/<str:cluster_id>/analytics/retention/<str:topic>/what-if/groups",
        insights.WhatIfGroupsView.as_view(),
    ),
    path("clusters/<str:cluster_id>/analytics/usage", insights.UsageView.as_view()),
    path("clusters/<str:cluster_id>/analytics/lag-objectives", insights.ObjectivesView.as_view()),
    path("clusters/<str:cluster_id>/analytics/unused-topics", insights.UnusedView.as_view()),
    path("clusters/<str:cluster_id>/analytics/disk-forecast", insights.ForecastView.as_view()),
    path("clusters/<str:cluster_id>/analytics/hot-partitions", insights.HotView.as_view()),
    path("clusters/<str:cluster_id>/analytics/silent-producers", insights.SilentView.as_view()),
    path("clusters/<str:cluster_id>/analytics/change-impact", insights.ImpactView.as_view()),
    path("clusters/<str:cluster_id>/analytics/chart", insights.ChartView.as_view()),
    path("clusters/<str:cluster_id>/analytics/throughput", throughput.ThroughputView.as_view()),
    path("clusters/<str:cluster_id>/analytics/offsets", throughput.OffsetsView.as_view()),
    path("clusters/<str:cluster_id>/analytics/sparklines", throughput.SparklinesView.as_view()),
    path("clusters/<str:cluster_id>/analytics/consumption", throughput.ConsumptionView.as_view()),
    path("clusters/<str:cluster_id>/analytics/readiness", insights.ReadinessView.as_view()),
    path("analytics/readiness", insights.TenantReadinessView.as_view()),
    path("analytics/usage", insights.TenantUsageView.as_view()),
    path("lag-objectives", objective_api.LagObjectivesView.as_view()),
    path("lag-objectives/<str:objective_id>", objective_api.LagObjectiveView.as_view()),
    path("operator/analytics/backfills", api.BackfillsView.as_view()),
    path(
        "operator/analytics/runs/<str:run_id>/cancellation",
        api.OperatorRunCancellationView.as_view(),
    ),
    path("analytics/runs", api.RunsView.as_view()),
    path("analytics/runs/<str:run_id>", api.RunView.as_view()),
    path("analytics/runs/<str:run_id>/cancellation", api.RunCancellationView.as_view()),
]
