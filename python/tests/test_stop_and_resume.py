"""What the yard tells the training."""

import trainyard


def test_resume_path_is_what_the_yard_gave(yard):
    yard.environ.setenv("TRAINYARD_RESUME", "/data/epoch-3.pt")
    assert trainyard.resume_path() == "/data/epoch-3.pt"


def test_resume_path_of_a_first_run_is_none(yard):
    assert trainyard.resume_path() is None


def test_resume_path_without_a_yard_is_none():
    assert trainyard.resume_path() is None


def test_a_stop_is_requested_when_its_file_appears(yard):
    assert not trainyard.stop_requested()
    assert trainyard.stop_reason() is None

    yard.stop_file.write_text("device needed by task 41\n")
    assert trainyard.stop_requested()
    assert trainyard.stop_reason() == "device needed by task 41"


def test_a_stop_without_a_reason_is_a_stop(yard):
    yard.stop_file.touch()
    assert trainyard.stop_requested()
    assert trainyard.stop_reason() == ""


def test_a_stop_reason_that_cannot_be_read_is_empty(yard):
    yard.stop_file.mkdir()
    assert trainyard.stop_requested()
    assert trainyard.stop_reason() == ""


def test_no_stop_without_a_yard():
    assert trainyard.stop_requested() is False
    assert trainyard.stop_reason() is None
