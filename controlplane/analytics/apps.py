from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    name = "controlplane.analytics"
    label = "analytics"

    def ready(self) -> None:
        """Raises ValueError: the price book cannot be read; better known now than later."""
        from controlplane.analytics.insights.prices import price_book
        from controlplane.analytics.standings import StoredJudgements
        from controlplane.groups.sources import use_source

        price_book()
        use_source(StoredJudgements())
