from django.urls import path

from controlplane.notifications import api

urlpatterns = [
    path("destinations", api.DestinationsView.as_view()),
    path("destinations/<str:destination_id>", api.DestinationView.as_view()),
    path("destinations/<str:destination_id>/test", api.DestinationTestView.as_view()),
    path("deliveries", api.DeliveriesView.as_view()),
    path("deliveries/<str:delivery_id>", api.DeliveryView.as_view()),
    path("deliveries/<str:delivery_id>/resend", api.DeliveryResendView.as_view()),
]
