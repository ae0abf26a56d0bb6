from django.urls import path

from controlplane.notifications import api, operator_api

urlpatterns = [
    path("destinations", api.DestinationsView.as_view()),
    path("destinations/<str:destination_id>", api.DestinationView.as_view()),
    path("destinations/<str:destination_id>/test", api.DestinationTestView.as_view()),
    path("deliveries", api.DeliveriesView.as_view()),
    path("deliveries/<str:delivery_id>", api.DeliveryView.as_view()),
    path("deliveries/<str:delivery_id>/resend", api.DeliveryResendView.as_view()),
    path("operator/destinations", operator_api.OperatorDestinationsView.as_view()),
    path(
        "operator/destinations/<str:platform_destination_id>",
        operator_api.OperatorDestinationView.as_view(),
    ),
    path(
        "operator/destinations/<str:platform_destination_id>/test",
        operator_api.OperatorDestinationTestView.as_view(),
    ),
    path("operator/deliveries", operator_api.OperatorDeliveriesView.as_view()),
    path(
        "operator/deliveries/<str:platform_delivery_id>",
        operator_api.OperatorDeliveryView.as_view(),
    ),
    path(
        "operator/deliveries/<str:platform_delivery_id>/resend",
        operator_api.OperatorDeliveryResendView.as_view(),
    ),
]
