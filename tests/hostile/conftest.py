import pytest
from tests.hostile.pool import Zygotes


@pytest.fixture(scope="session")
def zygotes():
    with Zygotes() as zygotes:
        yield zygotes
