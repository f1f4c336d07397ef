"""Checks of what a caller passes. Each returns the plain value or raises, naming the argument."""

from __future__ import annotations

import math
import operator
import os
from typing import Any, Dict, Mapping, Union

_STEP_LIMIT = 2**63 - 1


def metrics(value: Any) -> Dict[str, float]:
    if not isinstance(value, Mapping):
        raise TypeError("metrics must be a dict of names and numbers, not %s" % _kind(value))
    return {text("metrics: a name", name): number("metrics[%r]" % (name,), item)
            for name, item in value.items()}


def number(argument: str, value: Any) -> float:
    """A float from a Python number or a scalar of numpy, torch and the like."""
    if value is None or isinstance(value, (str, bytes, bytearray)):
        raise TypeError("%s must be a number, not %s" % (argument, _kind(value)))
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and math.prod(shape) != 1:
        raise ValueError("%s must be one number, not %d (shape %s)"
                         % (argument, math.prod(shape), tuple(shape)))
    try:
        return float(value.item() if callable(getattr(value, "item", None)) else value)
    except TypeError:
        raise TypeError("%s must be a number, not %s" % (argument, _kind(value))) from None
    except (ValueError, OverflowError) as error:
        raise ValueError("%s must be a number: %s" % (argument, error)) from None


def amount(argument: str, value: Any) -> Union[int, float]:
    """A finite number of at least 0; a whole one comes back as an int."""
    plain = number(argument, value)
    if not math.isfinite(plain) or plain < 0:
        raise ValueError("%s must be finite and at least 0, not %r" % (argument, plain))
    return int(plain) if plain.is_integer() else plain


def step(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError("step must be a whole number, not bool")
    try:
        plain = operator.index(value)
    except TypeError:
        raise TypeError("step must be a whole number, not %s" % _kind(value)) from None
    if not 0 <= plain <= _STEP_LIMIT:
        raise ValueError("step must be from 0 to 2^63 - 1, not %d" % plain)
    return plain


def text(argument: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("%s must be a str, not %s" % (argument, _kind(value)))
    if not value:
        raise ValueError("%s must not be empty" % argument)
    if not is_unicode(value):
        raise ValueError("%s must be valid Unicode, not %r" % (argument, value))
    return value


def path(value: Any) -> str:
    """An absolute path; symbolic links stay as they are."""
    try:
        plain = os.fsdecode(value)
    except TypeError:
        raise TypeError("path must be a str or a path object, not %s" % _kind(value)) from None
    if not plain:
        raise ValueError("path must not be empty")
    if "\0" in plain:
        raise ValueError("path must not contain a NUL character: %r" % plain)
    return os.path.abspath(plain)


def is_unicode(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__
