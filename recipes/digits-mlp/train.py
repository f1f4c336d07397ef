#!/usr/bin/python3
"""Trains a multi-layer perceptron to read handwritten digits. See README.md."""

import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import digits
import training


def main():
    options = parse()
    device = training.start(options)
    train_images, train_labels, test_images, test_labels = (
        part.to(device) for part in digits.load())
    model = network(options.hidden, options.dropout).to(device)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=options.learning_rate, momentum=0.9, weight_decay=1e-4)

    def batches_of(epoch, skip):
        return training.shuffled(
            len(train_labels), options.batch_size, options.seed, epoch, skip)

    def loss_of(indices):
        return functional.cross_entropy(model(train_images[indices]), train_labels[indices])

    def measure():
        right = model(test_images).argmax(1) == test_labels
        return {"acc": right.float().mean().item()}

    steps_per_epoch = -(-len(train_labels) // options.batch_size)
    return training.Training(
        options, model, optimizer, batches_of, loss_of, measure, result=("acc", "max")
    ).run(steps_per_epoch)


def parse():
    parser = training.parser(__doc__, epochs=80, batch_size=32, learning_rate=0.05, expect=0.95)
    parser.add_argument("--hidden", type=training.at_least_one, default=128,
                        help="units of each hidden layer")
    parser.add_argument("--dropout", type=float, default=0.2, help="0 to less than 1")
    return parser.parse_args()


def network(hidden, dropout):
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, hidden), nn.ReLU(), nn.Dropout(dropout),
        nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout),
        nn.Linear(hidden, 10),
    )


if __name__ == "__main__":
    sys.exit(main())
