"""The product's web process over the cluster of `shared_fake.py`: `uvicorn …fake_web:application`."""

from controlplane.asgi import application
from tests.controlplane.live.fake_worker import use_fakes

__all__ = ["application"]

use_fakes()
