"""Tell a Trainyard what a training is doing, from inside the training.

    import trainyard

    start = trainyard.resume_path()             # None, or the checkpoint to go on from
    for step, batch in enumerate(batches):
        loss = train(batch)
        trainyard.log({"loss": loss}, step=step)
        trainyard.progress(step + 1, total=len(batches))
        if trainyard.stop_requested():
            break
    with trainyard.atomic_write("model.pt") as file:
        torch.save(model.state_dict(), file)
    trainyard.checkpoint("model.pt", step=step)

What all functions promise:

* Without a yard (no TRAINYARD_* variables) they check their arguments and do nothing else, so
  the same script runs anywhere.
* Trouble of the yard (disk full, folder gone) never ends a training: it is said once on stderr.
  Only a wrong argument raises, a TypeError or ValueError that names the argument, with or
  without a yard. `atomic_write` writes the caller's own file and so does raise OSError.
* With several processes (torch DDP and the like) only the one with RANK=0 writes, so every rank
  may make the same calls. Without RANK a process writes. `log(..., every_rank=True)` writes from
  each of them.
* They may be called from any thread and any process; each record is one line in one write.

Needs Python 3.8 and nothing but the standard library.
"""

from ._atomic import atomic_write
from ._report import checkpoint, log, progress
from ._yard import resume_path, stop_reason, stop_requested

__all__ = [
    "atomic_write",
    "checkpoint",
    "log",
    "progress",
    "resume_path",
    "stop_reason",
    "stop_requested",
]
__version__ = "0.1.0"
