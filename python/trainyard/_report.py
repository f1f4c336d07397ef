"""What a training reports: metrics, progress, checkpoints. One JSON object a line in TRAINYARD_OUT.

metrics.jsonl:
    {"attempt":2,"time":1764490000.12,"step":40,"metrics":{"loss":0.53,"acc":"NaN"}}
    {"attempt":2,"time":1764490000.12,"progress":{"done":40,"total":200,"unit":"step"}}
checkpoints.jsonl:
    {"attempt":2,"time":1764490000.12,"step":40,"path":"/abs","bytes":123}

A key is left out when the caller gave no value for it. `progress` may have a "phase", too.
"""

from __future__ import annotations

import math
import os
import time
from time import monotonic
from typing import Any, Dict, Mapping, Optional, Union

from . import _arguments, _yard

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def log(
    metrics: Mapping[str, Any], step: Optional[int] = None, *, every_rank: bool = False
) -> None:
    """Reports the values of some metrics at one moment of the training.

    metrics: names and values, such as {"loss": 0.53, "acc": 0.91}. A value is a number or a scalar
        of numpy, torch and the like; NaN and infinities are kept. Units are the caller's. A scalar
        on a GPU is waited for. An empty dict reports nothing.
    step: 0 or more, usually the optimizer step; leave it out and points are ordered by time.
    every_rank: write from each process, not from rank 0 alone; then the names should tell the
        ranks apart ("loss/rank1").

    Every call is written, about 20 microseconds each.

    Raises TypeError or ValueError for a name that is not a non-empty str, a value that is not one
    number, or a step that is not a whole number from 0 to 2^63 - 1.
    """
    values = _arguments.metrics(metrics)
    record = _record(step)
    if values and _yard.is_writer(every_rank):
        record["metrics"] = {name: _plain(value) for name, value in values.items()}
        _yard.append("metrics.jsonl", record)


def progress(
    done: float, total: Optional[float] = None, unit: str = "step", phase: Optional[str] = None
) -> None:
    """Reports how far the training is.

    done: how many units are done, 0 or more, of the whole training and not of this run: after a
        resume from step 40 it goes on at 40.
    total: how many there will be, 0 or more; None if unknown. It may change, and done may pass it.
    unit: what is counted: "step", "epoch", "image", ...
    phase: what the training does now, such as "training" or "validation"; None for no phase.

    May be called at every step: about 5 calls a second are written. The first one, a new phase,
    total or unit, and the one that reaches the total always are; the last one before a
    `checkpoint` is written with it.

    Raises TypeError or ValueError for a done or total that is not a finite number of at least 0,
    or a unit or phase that is not a non-empty str.
    """
    now: Dict[str, Any] = {"done": _arguments.amount("done", done)}
    if total is not None:
        now["total"] = _arguments.amount("total", total)
    now["unit"] = _arguments.text("unit", unit)
    if phase is not None:
        now["phase"] = _arguments.text("phase", phase)
    if _yard.is_writer() and _throttle.admit(now, monotonic()):
        _write_progress(now)


def checkpoint(path: PathLike, step: Optional[int] = None) -> None:
    """Reports a checkpoint that this training can be resumed from, after it is complete on disk.

    Call it when the file is closed and has its final name (see `atomic_write`); from then on the
    yard may hand it to the next run as `resume_path()`.

    path: a file, or a folder for checkpoints of many files. Reported as an absolute path, with its
        size in bytes (of a folder: of all files in it).
    step: 0 or more, in the same unit as `progress` counts, so that the yard knows what is saved.

    If nothing is there, no checkpoint is reported; a line on stderr says so.

    Raises TypeError or ValueError for a path that is not a non-empty path, or a step that is not a
    whole number from 0 to 2^63 - 1.
    """
    absolute = _arguments.path(path)
    record = _record(step)
    if not _yard.is_writer():
        return
    if not _arguments.is_unicode(absolute):
        _yard.complain(absolute, None, "a checkpoint's path must be UTF-8, not %a" % absolute)
        return
    try:
        size = _size(absolute)
    except OSError as error:
        message = "no checkpoint at %s: %s" % (absolute, error.strerror)
        _yard.complain(absolute, error.errno, message)
        return
    pending = _throttle.take_pending(monotonic())
    if pending is not None:
        _write_progress(pending)
    record["path"] = absolute
    record["bytes"] = size
    _yard.append("checkpoints.jsonl", record)


class ProgressThrottle:
    """Decides which progress calls are written. Without a lock: a race costs one line more."""

    INTERVAL = 0.2  # seconds

    def __init__(self) -> None:
        self._written: Optional[Dict[str, Any]] = None
        self._written_at = -math.inf
        self._pending: Optional[Dict[str, Any]] = None

    def admit(self, progress: Dict[str, Any], now: float) -> bool:
        """Whether to write `progress`, asked at the time `now` in seconds."""
        written = self._written
        if progress == written:
            self._pending = None
            return False
        if written is not None and not self._is_news(progress, written):
            if now - self._written_at < self.INTERVAL:
                self._pending = progress
                return False
        self._wrote(progress, now)
        return True

    def take_pending(self, now: float) -> Optional[Dict[str, Any]]:
        """The last call that was held back, to be written now after all, or None."""
        pending = self._pending
        if pending is not None:
            self._wrote(pending, now)
        return pending

    def _is_news(self, progress: Dict[str, Any], written: Dict[str, Any]) -> bool:
        if progress["done"] >= progress.get("total", math.inf):
            return True
        return any(progress.get(key) != written.get(key) for key in ("total", "unit", "phase"))

    def _wrote(self, progress: Dict[str, Any], now: float) -> None:
        self._written, self._written_at, self._pending = progress, now, None


_throttle = ProgressThrottle()


def _write_progress(progress: Dict[str, Any]) -> None:
    record = _record(None)
    record["progress"] = progress
    _yard.append("metrics.jsonl", record)


def _record(step: Optional[int]) -> Dict[str, Any]:
    record: Dict[str, Any] = {"attempt": _yard.attempt(), "time": round(time.time(), 3)}
    if step is not None:
        record["step"] = _arguments.step(step)
    return record


def _plain(value: float) -> Union[float, str]:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _size(path: str) -> int:
    if not os.path.isdir(path):
        return os.stat(path).st_size
    return sum(
        os.lstat(os.path.join(folder, name)).st_size
        for folder, _, names in os.walk(path)
        for name in names
    )
