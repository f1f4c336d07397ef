"""atomic_write: the file is complete or not there."""

import os
import pathlib
import stat
import subprocess
import sys

import pytest

import trainyard

PACKAGE_ROOT = str(pathlib.Path(trainyard.__file__).resolve().parent.parent)


def test_the_file_appears_whole_when_the_block_ends(tmp_path):
    with trainyard.atomic_write(tmp_path / "model.pt") as file:
        file.write(b"abc")
        assert not (tmp_path / "model.pt").exists()
    assert (tmp_path / "model.pt").read_bytes() == b"abc"
    assert os.listdir(tmp_path) == ["model.pt"]


def test_a_block_that_raises_leaves_the_old_file(tmp_path):
    (tmp_path / "model.pt").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        with trainyard.atomic_write(tmp_path / "model.pt") as file:
            file.write(b"new")
            raise KeyboardInterrupt
    assert (tmp_path / "model.pt").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.pt"]


def test_text_is_utf_8_unless_told(tmp_path):
    with trainyard.atomic_write(tmp_path / "a.txt", "w") as file:
        file.write("损失")
    with trainyard.atomic_write(tmp_path / "b.txt", "w", encoding="gb18030") as file:
        file.write("损失")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "损失"
    assert (tmp_path / "b.txt").read_text(encoding="gb18030") == "损失"


def test_a_library_may_close_the_file_or_write_to_its_name(tmp_path):
    with trainyard.atomic_write(tmp_path / "closed") as file:
        file.write(b"1")
        file.close()
    with trainyard.atomic_write(tmp_path / "named") as file:
        pathlib.Path(file.name).write_bytes(b"2")
    with trainyard.atomic_write(tmp_path / "replaced") as file:
        (tmp_path / "its-own").write_bytes(b"3")
        os.replace(tmp_path / "its-own", file.name)
    assert [(tmp_path / name).read_bytes() for name in ("closed", "named", "replaced")] == [
        b"1", b"2", b"3"]


def test_permissions_are_those_of_open(tmp_path):
    (tmp_path / "old").touch()
    (tmp_path / "old").chmod(0o640)
    (tmp_path / "plain").touch()
    for name in ("old", "new"):
        with trainyard.atomic_write(tmp_path / name):
            pass
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("old", "new", "plain")]
    assert modes[0] == 0o640
    assert modes[1] == modes[2]


def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "latest").symlink_to("model.pt")
    with trainyard.atomic_write(tmp_path / "latest") as file:
        file.write(b"1")
    assert (tmp_path / "latest").is_symlink()
    assert (tmp_path / "model.pt").read_bytes() == b"1"


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    script = (
        "import os, sys, trainyard\n"
        "with trainyard.atomic_write(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "model.pt")],
                   env=dict(os.environ, PYTHONPATH=PACKAGE_ROOT))
    assert len(os.listdir(tmp_path)) == 1

    with trainyard.atomic_write(tmp_path / "model.pt") as file:
        file.write(b"whole")
    assert os.listdir(tmp_path) == ["model.pt"]


def test_a_writer_that_lives_is_left_alone(tmp_path):
    with trainyard.atomic_write(tmp_path / "model.pt") as first:
        first.write(b"first")
        with trainyard.atomic_write(tmp_path / "model.pt") as second:
            second.write(b"second")
    assert (tmp_path / "model.pt").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["model.pt"]


def test_a_long_or_odd_name_works(tmp_path):
    for name in ("x" * 255, "[a]*?.pt", "模" * 80, ".hidden"):
        with trainyard.atomic_write(tmp_path / name) as file:
            file.write(b"1")
        assert (tmp_path / name).read_bytes() == b"1"


def test_a_full_disk_is_told(tmp_path):
    resource = pytest.importorskip("resource")
    script = (
        "import resource, sys, trainyard\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    with trainyard.atomic_write(sys.argv[1]) as file: file.write(b'x' * 5000)\n"
        "except OSError: sys.exit(7)\n"
    )
    assert resource.RLIMIT_FSIZE is not None
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path / "model.pt")],
                           env=dict(os.environ, PYTHONPATH=PACKAGE_ROOT))
    assert ended.returncode == 7
    assert os.listdir(tmp_path) == []


def test_wrong_arguments_are_named(tmp_path):
    with pytest.raises(TypeError, match="path must be"):
        with trainyard.atomic_write(None):
            pass
    with pytest.raises(ValueError, match="mode must be 'wb' or 'w'"):
        with trainyard.atomic_write(tmp_path / "a", "r+b"):
            pass
    with pytest.raises(ValueError, match="encoding goes with mode 'w'"):
        with trainyard.atomic_write(tmp_path / "a", "wb", encoding="utf-8"):
            pass
    with pytest.raises(FileNotFoundError):
        with trainyard.atomic_write(tmp_path / "none" / "a"):
            pass
    with pytest.raises(IsADirectoryError):
        with trainyard.atomic_write(tmp_path):
            pass
    assert os.listdir(tmp_path) == []
