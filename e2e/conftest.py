"""The scripted upstream and the gateway in front of it: one of each per run."""

import os

import pytest

from e2e.gateway import Gateway
from e2e.scripted_upstream.server import ScriptedUpstream
from e2e.settings import OFFLINE


@pytest.fixture(scope="session")
def upstream():
    server = ScriptedUpstream()
    yield server
    server.close()


@pytest.fixture(scope="session")
def gateway(upstream):
    os.environ.update(OFFLINE)
    process = Gateway(upstream)
    yield process
    process.close()
