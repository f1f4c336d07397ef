"""The trainyard helper where there is one, else the same names doing nothing for a yard.

A yard puts the helper on PYTHONPATH. A script of your own that always runs with the helper needs
none of this: `import trainyard` and call it.
"""

import contextlib
import os

try:
    from trainyard import (
        atomic_write, checkpoint, log, progress, resume_path, stop_reason, stop_requested)
except ImportError:

    def log(metrics, step=None):
        pass

    def progress(done, total=None, unit="step", phase=None):
        pass

    def checkpoint(path, step=None):
        pass

    def resume_path():
        return None

    def stop_requested():
        return False

    def stop_reason():
        return None

    @contextlib.contextmanager
    def atomic_write(path):
        temporary = "%s.%d.tmp" % (path, os.getpid())
        try:
            with open(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)

__all__ = ["atomic_write", "checkpoint", "log", "progress", "resume_path", "stop_reason",
           "stop_requested"]
