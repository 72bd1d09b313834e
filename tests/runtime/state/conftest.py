"""All tests of keyed state run twice: in memory and on disk."""

from __future__ import annotations

import pytest

from tests.runtime.state.backends import kept


@pytest.fixture(autouse=True, params=[False, True], ids=["memory", "disk"])
def state_backend(request):
    with kept(request.param):
        yield
