"""The training loop of the built-in recipes: epochs, checkpoints, resume, stop, result.

A recipe gives a model, the batches of an epoch and how to measure; the loop does the rest:

* after each epoch, and when asked to stop, a checkpoint in OUT/checkpoints, whole or not there;
* from a checkpoint it goes on as if never interrupted, in the middle of an epoch too: on a CPU the
  same seed ends in the same numbers, stopped or not;
* progress, metrics and checkpoints go to the yard if there is one, and to stdout in any case.
"""

import argparse
import os
import pathlib
import signal
import sys

import torch

import yard

EXIT_EXPECTATION_MISSED = 1
EXIT_STOPPED = 128 + signal.SIGTERM  # 143: ended early because it was asked to
CHECKPOINTS_KEPT = 3
STEPS_BETWEEN_LOOKS = 5  # for a stop
STEPS_BETWEEN_POINTS = 10  # of the loss


class Stopped(Exception):
    """The training was asked to end and has saved a checkpoint."""


def parser(description, epochs, batch_size, learning_rate, expect):
    """Options that all recipes have, with the defaults of one; the recipe adds its own."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--epochs", type=at_least_one, default=epochs,
                         help="times through the data, or what the recipe calls so")
    options.add_argument("--batch-size", type=at_least_one, default=batch_size,
                         help="examples of a step")
    options.add_argument("--learning-rate", type=above_zero, default=learning_rate,
                         help="of the first step; it falls to 0")
    options.add_argument("--seed", type=int, default=1, help="of all that is random")
    options.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, ...")
    options.add_argument("--out", type=pathlib.Path, metavar="FOLDER",
                         default=pathlib.Path(os.environ.get("TRAINYARD_OUT") or "out"),
                         help="for checkpoints")
    options.add_argument("--resume", type=pathlib.Path, metavar="CHECKPOINT",
                         default=yard.resume_path(), help="go on from this checkpoint")
    options.add_argument("--expect", type=float, metavar="RESULT",
                         help="exit %d if the result is worse than this; %s is reached with the "
                              "default values" % (EXIT_EXPECTATION_MISSED, expect))
    return options


def start(options):
    """Prepares torch and returns the device to train on."""
    if not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    if options.device != "auto":
        return torch.device(options.device)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Training:
    """One training from its first or its resumed epoch to the last."""

    def __init__(self, options, model, optimizer, batches_of, loss_of, measure, result):
        """
        batches_of(epoch, skip): the batches of that epoch, counted from 1, without the first ones
        loss_of(batch): the loss to learn from
        measure(): values after an epoch, such as {"acc": 0.97}
        result: the name of the value that counts and its direction, such as ("acc", "max")
        """
        self.options, self.model, self.optimizer = options, model, optimizer
        self.batches_of, self.loss_of, self.measure, self.result = (
            batches_of, loss_of, measure, result)
        self.epoch = 1  # the one to do
        self.batch = 0  # batches of it that are done
        self.step = 0  # optimizer steps done in all
        self.loss_sum = 0.0  # over the batches of this epoch
        self.values = {}
        self.terminated = False

    def run(self, steps_per_epoch):
        """Trains, prints how it went and returns the exit code of the program."""
        signal.signal(signal.SIGTERM, self._on_terminate)
        if self.options.resume:
            self._load(self.options.resume, steps_per_epoch)
        epochs_to_do = max(0, self.options.epochs - self.epoch + 1)
        self.total_steps = self.step + steps_per_epoch * epochs_to_do - self.batch
        yard.progress(self.step, self.total_steps, phase="training")
        try:
            while self.epoch <= self.options.epochs:
                self._train_epoch()
        except Stopped:
            print("stopped at epoch %d of %d, step %d: %s" % (
                self.epoch, self.options.epochs, self.step,
                yard.stop_reason() or "asked to end"), flush=True)
            return EXIT_STOPPED
        return self._conclude()

    def _train_epoch(self):
        self.model.train()
        for batch in self.batches_of(self.epoch, self.batch):
            if self.step % STEPS_BETWEEN_LOOKS == 0 and self._stop_wanted():
                print("saved %s" % self._save(), flush=True)
                raise Stopped
            self._train_step(batch)
        loss = self.loss_sum / self.batch
        self.values = {"loss": loss, **self._measured()}
        print("epoch %d/%d %s" % (self.epoch, self.options.epochs, _words(self.values)), flush=True)
        yard.log({**self.values, "epoch": self.epoch}, step=self.step)
        self.epoch, self.batch, self.loss_sum = self.epoch + 1, 0, 0.0
        self._save()

    def _train_step(self, batch):
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        self.optimizer.zero_grad()
        loss = self.loss_of(batch)
        loss.backward()
        self.optimizer.step()
        self.loss_sum += loss.item()
        self.batch += 1
        self.step += 1
        if self.step % STEPS_BETWEEN_POINTS == 0:
            yard.log({"batch_loss": loss, "learning_rate": self._learning_rate()}, step=self.step)
        yard.progress(self.step, self.total_steps, phase="training")

    def _learning_rate(self):
        """Falls in a straight line to nothing at the end: the last epochs settle the result."""
        return self.options.learning_rate * (1 - self.step / self.total_steps)

    def _measured(self):
        self.model.eval()
        with torch.no_grad():
            return self.measure()

    def _conclude(self):
        name, direction = self.result
        value = self.values[name]
        print("finished %s=%.4f" % (name, value), flush=True)
        expected = self.options.expect
        if expected is None:
            return 0
        reached = value >= expected if direction == "max" else value <= expected
        if reached:
            return 0
        print("error: %s is %.4f, expected %s %g" % (
            name, value, "at least" if direction == "max" else "at most", expected),
            file=sys.stderr, flush=True)
        return EXIT_EXPECTATION_MISSED

    # Stopping

    def _on_terminate(self, signal_number, frame):
        self.terminated = True

    def _stop_wanted(self):
        return self.terminated or yard.stop_requested()

    # Checkpoints

    def _save(self):
        folder = self.options.out / "checkpoints"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ("step-%08d.pt" % self.step)
        with yard.atomic_write(path) as file:
            torch.save(self._state(), file)
        yard.checkpoint(path, step=self.step)
        by_age = sorted(folder.glob("step-*.pt"), key=lambda file: file.stat().st_mtime)
        for old in by_age[:-CHECKPOINTS_KEPT]:
            old.unlink()
        return path

    def _state(self):
        return {
            "epoch": self.epoch,
            "batch": self.batch,
            "batch_size": self.options.batch_size,
            "step": self.step,
            "loss_sum": self.loss_sum,
            "values": self.values,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        }

    def _load(self, path, steps_per_epoch):
        state = torch.load(path, map_location="cpu")
        self.epoch, self.batch, self.step = state["epoch"], state["batch"], state["step"]
        self.loss_sum, self.values = state["loss_sum"], state["values"]
        if state["batch_size"] != self.options.batch_size or self.batch >= steps_per_epoch:
            self.batch, self.loss_sum = 0, 0.0  # other batches than before: this epoch anew
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        if torch.cuda.is_available() and len(state["cuda_rng"]) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(state["cuda_rng"])
        print("resumed from %s: epoch %d of %d, step %d" % (
            path, self.epoch, self.options.epochs, self.step), flush=True)


def shuffled(count, batch_size, seed, epoch, skip=0):
    """Lists of indices, a batch each, in an order that depends on seed and epoch alone."""
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed * 100_003 + epoch))
    return [batch.tolist() for batch in order.split(batch_size)][skip:]


def at_least_one(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1, not %s" % text)
    return value


def above_zero(text):
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError("must be above 0, not %s" % text)
    return value


def _words(values):
    return " ".join("%s=%.4f" % item for item in values.items())
