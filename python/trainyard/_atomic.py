"""Files that are whole or not there: written under another name, then renamed."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
from typing import IO, Any, Iterator, Optional, Tuple, Union

from . import _arguments

try:
    import fcntl
except ImportError:  # not a POSIX system: files left by a killed writer stay
    fcntl = None  # type: ignore[assignment]

_TOKEN_BYTES = 8


@contextlib.contextmanager
def atomic_write(
    path: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"],
    mode: str = "wb",
    encoding: Optional[str] = None,
) -> Iterator[IO[Any]]:
    """Writes a file that others see complete or not at all, even after a crash or a power cut.

        with trainyard.atomic_write("model.pt") as file:
            torch.save(model.state_dict(), file)

    The block gets a new file in the folder of `path`. When the block ends, the file is synced to
    disk and renamed to `path`, replacing what was there. When the block raises, the file is removed
    and `path` stays as it was. A file left behind by a killed writer is removed by the next
    `atomic_write` to the same path. A library that wants a name and not a file may write to
    `file.name`. Works the same with and without a yard, and on every rank.

    path: the final name; its folder must exist. A symbolic link is followed. Permissions are those
        of the file that is replaced, or of any new file.
    mode: "wb" for bytes or "w" for text.
    encoding: of text; UTF-8 if left out. Not with "wb".

    Raises OSError if the file cannot be written, synced or renamed (disk full, no such folder),
    TypeError or ValueError for wrong arguments.
    """
    target = os.path.realpath(_arguments.path(path))
    if mode not in ("wb", "w"):
        raise ValueError("mode must be 'wb' or 'w', not %r" % (mode,))
    if mode == "wb" and encoding is not None:
        raise ValueError("encoding goes with mode 'w', not with 'wb'")
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)

    folder, name = os.path.split(target)
    prefix = os.path.join(folder, ".%s." % _short(name))
    _remove_abandoned(prefix)
    descriptor, temporary = _create_locked(prefix)
    try:
        # A duplicate, so that closing the file, here or in the block, does not give up the lock.
        with open(temporary, mode, encoding=encoding or ("utf-8" if mode == "w" else None),
                  opener=lambda path, flags: os.dup(descriptor)) as file:
            yield file
        _sync(temporary)
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        os.close(descriptor)
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder
        _sync(folder)


def _create_locked(prefix: str) -> Tuple[int, str]:
    """A new file whose lock says that its writer lives."""
    while True:
        temporary = prefix + secrets.token_hex(_TOKEN_BYTES) + ".tmp"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o666)
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)  # another process removed it before it was locked


def _remove_abandoned(prefix: str) -> None:
    """Removes what killed writers of the same target left: nobody holds its lock any more."""
    if fcntl is None:
        return
    for leftover in glob.glob(glob.escape(prefix) + "[0-9a-f]" * (2 * _TOKEN_BYTES) + ".tmp"):
        with contextlib.suppress(OSError):
            descriptor = os.open(leftover, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(leftover)
            finally:
                os.close(descriptor)


def _short(name: str) -> str:
    """`name` cut so that the temporary name, too, fits into the 255 bytes of a file name."""
    return os.fsdecode(os.fsencode(name)[:200])


def _sync(path: str) -> None:
    # By name and not by the descriptor: a library may have put a file of its own in this place.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
