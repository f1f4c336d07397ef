"""The handwritten digits that scikit-learn ships: 1,797 images of 8 x 8 pixels, 10 classes."""

import gzip
import pathlib

import torch

DATA_FILE = pathlib.Path(__file__).resolve().parent.parent / "data" / "digits.csv.gz"
TEST_IMAGES = 360


def load(data_file=DATA_FILE):
    """Returns (train images, train labels, test images, test labels); pixels are 0 to 1.

    The split is the same whatever the seed of a training, so that accuracies can be compared.
    """
    with gzip.open(data_file, "rt", encoding="ascii") as lines:
        rows = torch.tensor([[int(value) for value in line.split(",")] for line in lines])
    rows = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(1998))]
    images = rows[:, :64].float().div(16).reshape(-1, 1, 8, 8)
    labels = rows[:, 64]
    return images[TEST_IMAGES:], labels[TEST_IMAGES:], images[:TEST_IMAGES], labels[:TEST_IMAGES]
