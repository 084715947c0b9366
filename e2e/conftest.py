"""The scripted upstream and the gateway in front of it, one of each for the whole run."""

import os

import pytest

from e2e.gateway import OFFLINE, Gateway
from e2e.scripted_upstream.server import Upstream


@pytest.fixture(scope="session")
def upstream():
    server = Upstream()
    yield server
    server.close()


@pytest.fixture(scope="session")
def gateway(upstream):
    os.environ.update(OFFLINE)
    process = Gateway(upstream)
    yield process
    process.close()
