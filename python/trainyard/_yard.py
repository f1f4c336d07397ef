"""The yard as a training sees it: a few variables, a folder to write to, a file that says stop.

The variables are read at each call. That costs a microsecond and is right after a fork, too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Dict, Optional, Set, Tuple

_STOP_REASON_LIMIT = 64 * 1024  # bytes; a reason is one line, so more is not one
_WRITE_TAKES_LESS_THAN = 1.0  # seconds
_complaints: Set[Tuple[str, Optional[int]]] = set()


def is_writer(every_rank: bool = False) -> bool:
    """Whether this process reports to a yard: there is one, and this is rank 0 of the training."""
    if not os.environ.get("TRAINYARD_OUT"):
        return False
    return every_rank or os.environ.get("RANK", "").strip() in ("", "0")


def attempt() -> int:
    """The number of this run of the task: 1, or 2 and more after a retry."""
    try:
        return int(os.environ.get("TRAINYARD_ATTEMPT", "1"))
    except ValueError:
        return 1


def append(name: str, record: Dict[str, Any]) -> None:
    """Adds `record` as one line to the file `name` in TRAINYARD_OUT. Never raises OSError.

    One write on an O_APPEND descriptor, so that lines of several processes do not mix. Should the
    file end in half a line (a full disk, a power cut), that line is ended first: only it is lost.
    """
    line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = line.encode("utf-8") + b"\n"
    path = os.path.join(os.environ["TRAINYARD_OUT"], name)
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            if _ends_in_half_a_line(descriptor):
                data = b"\n" + data
            written = os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError as error:
        complain(path, error.errno, "cannot write %s: %s" % (path, error.strerror))
        return
    if written < len(data):
        complain(path, None, "cannot write all of a line to %s: is the disk full?" % path)


def complain(about: str, code: Optional[int], message: str) -> None:
    """Says a trouble of the yard on stderr, once for each thing and error code, and goes on."""
    if (about, code) in _complaints:
        return
    _complaints.add((about, code))
    try:
        sys.stderr.write("trainyard: %s (the training goes on)\n" % message)
    except Exception:  # no stderr, or a closed or full one: there is nobody left to tell
        pass


def resume_path() -> Optional[str]:
    """The checkpoint that this run should go on from, or None to start from the beginning.

    It is the absolute path of the last complete checkpoint that an earlier run of the same task
    reported with `checkpoint`. Outside a yard and in a first run it is None. Whether it can be
    read is not checked: a lost checkpoint should be seen, not quietly trained over.

    Raises nothing.
    """
    return os.environ.get("TRAINYARD_RESUME") or None


def stop_requested() -> bool:
    """Whether the yard wants this training to save a checkpoint and end.

    Cheap enough (one look at a file) to ask at every step. Once True it stays True. Ranks may see
    it a step apart: with collective operations let rank 0 ask and broadcast its answer. Always
    False outside a yard.

    Raises nothing.
    """
    path = os.environ.get("TRAINYARD_STOP")
    return bool(path) and os.path.exists(path or "")


def stop_reason() -> Optional[str]:
    """Why the yard wants this training to end, as the yard wrote it, or None if it does not:
    "cancelled", "time limit", "idle limit", "device lost", "device memory"; others may come.

    An empty text means that a stop is wanted and no reason was given or could be read.

    Raises nothing.
    """
    if not stop_requested():
        return None
    try:
        with open(os.environ["TRAINYARD_STOP"], "rb") as file:
            return file.read(_STOP_REASON_LIMIT).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _ends_in_half_a_line(descriptor: int) -> bool:
    status = os.fstat(descriptor)
    if status.st_size == 0 or time.time() - status.st_mtime < _WRITE_TAKES_LESS_THAN:
        return False  # a young half line is one that another process is writing now
    os.lseek(descriptor, status.st_size - 1, os.SEEK_SET)  # O_APPEND: writes go to the end anyway
    return os.read(descriptor, 1) != b"\n"
