#!/usr/bin/python3
"""Trains a small transformer to write text, character by character. See README.md."""

import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import training

TEXTS = [
    "/usr/share/common-licenses/GPL-3",
    "/usr/share/common-licenses/GPL-2",
    "/usr/share/common-licenses/Apache-2.0",
]


def main():
    options = parse()
    device = training.start(options)
    alphabet, train_codes, validation_codes = encode(options.text.read_text(encoding="utf-8"))
    train_codes, validation_codes = train_codes.to(device), validation_codes.to(device)
    if len(validation_codes) <= options.context:
        sys.exit("error: %s is too short for --context %d" % (options.text, options.context))
    validation_starts = list(range(0, len(validation_codes) - options.context, options.context))
    model = CharTransformer(
        len(alphabet), options.context, options.width, options.heads, options.layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)

    def batches_of(epoch, skip):
        starts = training.shuffled(
            len(train_codes) - options.context, options.batch_size, options.seed, epoch)
        return starts[skip:options.steps_per_epoch]

    def loss_of(starts):
        return model.loss(windows(train_codes, starts, options.context))

    def measure():
        return {"val_loss": model.loss(
            windows(validation_codes, validation_starts, options.context)).item()}

    steps_per_epoch = min(
        options.steps_per_epoch,
        -(-(len(train_codes) - options.context) // options.batch_size))
    code = training.Training(
        options, model, optimizer, batches_of, loss_of, measure, result=("val_loss", "min")
    ).run(steps_per_epoch)
    if code != training.EXIT_STOPPED and options.sample:
        print(model.write(alphabet, options.sample))
    return code


def parse():
    parser = training.parser(__doc__, epochs=12, batch_size=16, learning_rate=0.014,
                             expect=2.15)
    parser.add_argument(
        "--text", type=pathlib.Path, help="a UTF-8 text to learn from",
        default=next((text for text in map(pathlib.Path, TEXTS) if text.is_file()), None))
    parser.add_argument("--steps-per-epoch", type=training.at_least_one, default=24,
                        help="an epoch is this many batches")
    parser.add_argument("--context", type=training.at_least_one, default=32,
                        help="characters seen at once")
    parser.add_argument("--width", type=training.at_least_one, default=64, help="of the model")
    parser.add_argument("--heads", type=training.at_least_one, default=2, help="of attention")
    parser.add_argument("--layers", type=training.at_least_one, default=2, help="of the model")
    parser.add_argument("--sample", type=int, default=120, help="characters to write at the end")
    options = parser.parse_args()
    if options.text is None:
        parser.error("argument --text: needed, as none of %s is here" % ", ".join(TEXTS))
    if options.width % options.heads:
        parser.error("argument --width: must be a multiple of --heads")
    return options


def encode(text):
    """Returns the alphabet and two lists of numbers: nine tenths to learn from, one to check with.

    The latter is every tenth piece and not the end, which is often of another kind.
    """
    alphabet = sorted(set(text))
    pieces = torch.tensor([alphabet.index(character) for character in text]).chunk(50)
    learned = [piece for number, piece in enumerate(pieces) if number % 10 != 5]
    return alphabet, torch.cat(learned), torch.cat(pieces[5::10])


def windows(codes, starts, context):
    """One row for each start: `context` characters and the one that follows."""
    starts = torch.tensor(starts, device=codes.device)
    return codes[starts[:, None] + torch.arange(context + 1, device=codes.device)]


class Dense(nn.Conv1d):
    """What nn.Linear does, as a convolution of one character: (batch, length, width) in and out.

    PyTorch as Debian builds it multiplies matrices with the plain reference BLAS, but convolutions
    with oneDNN: on a CPU this layer is 15 times as fast there, and not slower elsewhere.
    """

    def __init__(self, width_in, width_out):
        super().__init__(width_in, width_out, kernel_size=1)

    def forward(self, hidden):
        return super().forward(hidden.transpose(1, 2)).transpose(1, 2)


class CharTransformer(nn.Module):
    def __init__(self, characters, context, width, heads, layers):
        super().__init__()
        self.character = nn.Embedding(characters, width)
        self.position = nn.Parameter(torch.randn(context, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.output = Dense(width, characters)

    def forward(self, codes):
        hidden = self.character(codes) + self.position[: codes.shape[1]]
        for block in self.blocks:
            hidden = block(hidden)
        return self.output(self.norm(hidden))

    def loss(self, windows):
        guesses = self(windows[:, :-1])
        return functional.cross_entropy(guesses.flatten(0, 1), windows[:, 1:].flatten())

    @torch.no_grad()
    def write(self, alphabet, count):
        self.eval()
        codes = torch.zeros(1, 1, dtype=torch.long, device=self.position.device)
        for _ in range(count):
            guesses = self(codes[:, -len(self.position):])[:, -1]
            following = torch.multinomial(functional.softmax(guesses / 0.7, dim=1), 1)
            codes = torch.cat([codes, following], dim=1)
        return "".join(alphabet[code] for code in codes[0, 1:].tolist())


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.query_key_value = Dense(width, 3 * width)
        self.project = Dense(width, width)
        self.forward_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            Dense(width, 4 * width), nn.ReLU(), Dense(4 * width, width))

    def forward(self, hidden):
        hidden = hidden + self.project(self._attend(self.attention_norm(hidden)))
        return hidden + self.feed_forward(self.forward_norm(hidden))

    def _attend(self, hidden):
        batch, length, width = hidden.shape
        parts = self.query_key_value(hidden).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / (width // self.heads) ** 0.5
        future = torch.ones(length, length, dtype=torch.bool, device=hidden.device).triu(1)
        mixed = scores.masked_fill(future, float("-inf")).softmax(-1) @ value
        return mixed.transpose(1, 2).reshape(batch, length, width)


if __name__ == "__main__":
    sys.exit(main())
