# SPDX-License-Identifier: Apache-2.0
"""Draws what programs are made of: types, shapes, values with the extremes of their type, numbers, axes and keys.

Everything drawn comes from one generator, so a seed and a number give the same program on every machine.
"""
import random

import numpy

FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
TYPES = ("bool", *SIGNED, *UNSIGNED, *FLOATS)
CLASSES = {"any": TYPES, "float": FLOATS, "wide": FLOATS[1:], "whole": SIGNED + UNSIGNED, "signed": SIGNED,
           "bits": ("bool", *SIGNED, *UNSIGNED), "real": SIGNED + UNSIGNED + FLOATS, "bool": ("bool",)}
LENGTHS = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5)
LONG = (7, 8, 9, 16, 17, 31, 33, 64, 65, 100, 257)  # around the widths of vector loops
EDGES = (2 ** 31 - 1, 2 ** 31, -2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 1, -2 ** 53 - 1, 2 ** 63 - 1, -2 ** 63, 2 ** 63,
         2 ** 64 - 1, 127, 128, -129, 255, 256, 300, 65535, 65536)
FRACTIONS = (0.5, -0.5, 1.5, -1.5, 2.5, 0.1, 1e-3, 3.7, -7.25, 1e10, 1e300, -1e-300)


def extremes(dtype):
    """Numbers at the edges of a type."""
    if dtype == "bool":
        return [False, True]
    if dtype in FLOATS:
        info = numpy.finfo(dtype)
        return [numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0, float(info.max), float(info.min), float(info.tiny),
                float(info.smallest_subnormal), float(info.eps), 1.0 + float(info.eps)]
    info = numpy.iinfo(dtype)
    near = [info.max, info.max - 1, info.min, info.min + 1, info.max // 2 + 1, 0]
    return near + ([2 ** 53 + 1, 2 ** 53] if info.max > 2 ** 53 else [])


class Draw:
    """The generator of one program; `inputs` are the values that it begins with."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}:{number}")
        self.inputs = {}

    def pick(self, items):
        return items[int(self.random.random() * len(items))]

    def chance(self, share):
        return self.random.random() < share

    def whole(self, low, high):
        return self.random.randint(low, high)

    # ---- arrays -------------------------------------------------------------------------------
    def dtype(self, kinds="any"):
        return self.pick(CLASSES[kinds]) if kinds in CLASSES else kinds

    def shape(self, least=0, most=5):
        """A shape; now and then of a long vector."""
        if least <= 1 <= most and self.chance(0.06):
            return (self.pick(LONG),)
        rank = self.pick([rank for rank in (0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5) if least <= rank <= most])
        if rank and self.chance(0.03):
            return (self.pick(LONG), *(2,) * (rank - 1))
        shape = tuple(self.pick(LENGTHS) for _ in range(rank))
        return shape if rank < 4 else tuple(min(length, 2) for length in shape)

    def values(self, dtype, shape, plain=False):
        """An array: mostly small numbers, sometimes such as lie at the edges of the type, or anywhere in it."""
        count = int(numpy.prod(shape, dtype=int))
        way = 0 if plain else self.random.random()
        if dtype == "bool":
            listed = [self.chance(0.5) for _ in range(count)]
        elif way < 0.65:
            low = 0 if dtype in UNSIGNED else -6
            listed = [self.random.randint(low, 9) for _ in range(count)]
            if dtype in FLOATS:
                listed = [value * 0.25 if self.chance(0.5) else value for value in listed]
        elif way < 0.85:
            ends = extremes(dtype)
            listed = [self.pick(ends) if self.chance(0.4) else self.random.randint(0, 5) for _ in range(count)]
        elif dtype in FLOATS:
            listed = [self.random.gauss(0, 1) * 10 ** self.random.uniform(-3, 3) for _ in range(count)]
        else:
            info = numpy.iinfo(dtype)
            listed = [self.random.randint(info.min, info.max) for _ in range(count)]
        return numpy.array(listed, dtype=dtype).reshape(shape)

    def keep(self, name, value):
        """Makes a value an input; gives its name."""
        self.inputs[name] = value
        return name

    def array(self, name, kinds="any", least=0, most=5, shape=None, plain=False):
        if shape is None:
            shape = self.shape(least, most)
        return self.keep(name, self.values(self.dtype(kinds), shape, plain))

    def fitting(self, name, shape, kinds="any", plain=False):
        """An array that is broadcast with one of this shape, now and then to more dimensions."""
        way = self.random.random()
        if way < 0.45:
            other = shape
        elif way < 0.9:
            other = tuple(1 if self.chance(0.4) else length for length in shape[self.whole(0, len(shape)):])
        else:
            other = ((2,) + shape)[-5:]
        return self.array(name, kinds, shape=other, plain=plain)

    # ---- numbers ------------------------------------------------------------------------------
    def number(self, small=False):
        """A Python number; beyond 2**53 and at the edges of types too."""
        way = self.random.random()
        if way < 0.5 or small:
            return self.random.randint(-3, 7)
        if way < 0.65:
            return self.pick(EDGES)
        if way < 0.9:
            return self.pick(FRACTIONS)
        return self.pick((True, False, float("inf"), float("-inf"), float("nan"), 0.0, -0.0))

    # ---- places -------------------------------------------------------------------------------
    def axis(self, rank):
        if rank == 0 or self.chance(0.02):
            return self.pick((0, -1, rank))
        return self.whole(-rank, rank - 1)

    def axes(self, rank):
        """None, one axis, or several."""
        way = self.random.random()
        if way < 0.35:
            return None
        if way < 0.8 or rank < 2:
            return self.axis(rank)
        chosen = self.random.sample(range(rank), self.whole(0, rank))
        return tuple(axis - rank if self.chance(0.3) else axis for axis in chosen)

    def factors(self, count):
        """A shape of so many elements."""
        if count == 0:
            return self.pick(((0,), (0, 3), (2, 0), (1, 0, 2)))
        shape = []
        for divisor in (2, 3, 5, 7):
            if count % divisor == 0 and self.chance(0.6):
                shape.append(divisor)
                count //= divisor
        shape.append(count)
        if self.chance(0.2):
            shape.insert(0, 1)
        self.random.shuffle(shape)
        return tuple(shape)
