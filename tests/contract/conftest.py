import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import yard as yards  # noqa: E402


@pytest.fixture(scope="module")
def yard():
    one = yards.Yard().start()
    yield one
    one.stop()
