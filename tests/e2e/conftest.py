import pytest

from yarding import Yard


@pytest.fixture
def down_yard(tmp_path):
    yard = Yard(tmp_path)
    yield yard
    yard("down", "--cancel", code=None)


@pytest.fixture
def yard(down_yard):
    down_yard.up("--devices", "cpu:2")
    return down_yard
