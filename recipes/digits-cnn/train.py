#!/usr/bin/python3
"""Trains a small convolutional network to read handwritten digits. See README.md."""

import errno
import os
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import digits
import training

ROWS_PER_SHARD = 240


def main():
    options = parse()
    device = training.start(options)
    train_images, train_labels, test_images, test_labels = digits.load()
    test_images, test_labels = test_images.to(device), test_labels.to(device)
    dataset = Digits(train_images, train_labels)
    model = network(options.width).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate)

    def batches_of(epoch, skip):
        order = training.shuffled(len(dataset), options.batch_size, options.seed, epoch, skip)
        data = dataset
        if epoch == options.fail_once_at_epoch:
            data = FailsOnce(dataset, order[len(order) // 2][0], options.out / "failed-once")
        # Its own generator, as DataLoader would draw from the global one whenever it starts anew.
        return DataLoader(data, batch_sampler=order, num_workers=options.workers,
                          generator=torch.Generator())

    def loss_of(batch):
        images, labels = batch
        images = shifted(images.to(device))
        return functional.cross_entropy(model(images), labels.to(device), label_smoothing=0.05)

    def measure():
        right = model(test_images).argmax(1) == test_labels
        return {"acc": right.float().mean().item()}

    steps_per_epoch = -(-len(dataset) // options.batch_size)
    return training.Training(
        options, model, optimizer, batches_of, loss_of, measure, result=("acc", "max")
    ).run(steps_per_epoch)


def parse():
    parser = training.parser(__doc__, epochs=24, batch_size=64, learning_rate=2e-3, expect=0.97)
    parser.add_argument("--width", type=training.at_least_one, default=24,
                        help="channels of the first layer")
    parser.add_argument("--workers", type=int, default=0, help="processes that load data")
    parser.add_argument(
        "--fail-once-at-epoch", type=int, metavar="N",
        help="for demonstrations: let reading the data fail once in this epoch (2 or later)")
    options = parser.parse_args()
    fail_at = options.fail_once_at_epoch
    if fail_at is not None and not 2 <= fail_at <= options.epochs:
        parser.error("argument --fail-once-at-epoch: must be from 2 to the last epoch, not %d, so "
                     "that there is a checkpoint to go on from" % fail_at)
    return options


def network(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(2 * width * 4, 10),
    )


def shifted(images):
    """The images moved by at most one pixel in each direction, all of a batch alike."""
    down, right = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(images, (down, right), (2, 3))


class Digits(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class FailsOnce(Dataset):
    """A dataset on a disk that fails when `bad_index` is read, once in the life of the marker."""

    def __init__(self, dataset, bad_index, marker):
        self.dataset, self.bad_index, self.marker = dataset, bad_index, marker

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        if index == self.bad_index and not self.marker.exists():
            self.marker.touch()
            shard = "%s: digits shard %d" % (digits.DATA_FILE, index // ROWS_PER_SHARD)
            raise OSError(errno.EIO, os.strerror(errno.EIO), shard)
        return self.dataset[index]


if __name__ == "__main__":
    sys.exit(main())
