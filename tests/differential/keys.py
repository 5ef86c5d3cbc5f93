# SPDX-License-Identifier: Apache-2.0
"""Draws keys: what lies between the brackets of a[...]."""
import numpy


def _slice(draw, length):
    def end():
        return None if draw.chance(0.3) else draw.whole(-length - 2, length + 2)

    step = draw.pick((None, None, None, 1, 2, 3, -1, -2))
    return slice(end(), end(), step)


def _shown(item):
    if not isinstance(item, slice):
        return "..." if item is Ellipsis else repr(item)
    parts = ["" if part is None else str(part) for part in (item.start, item.stop)]
    return ":".join(parts if item.step is None else [*parts, str(item.step)])


def _place(draw, length):
    if length == 0 or draw.chance(0.02):
        return draw.whole(-length - 1, length)
    return draw.whole(-length, length - 1)


def basic(draw, shape):
    """A key of numbers, slices, None and Ellipsis, as text."""
    if draw.chance(0.08):
        return draw.pick(("...", ":", "None", "()", "..., None", "None, ...", ":, ..."))
    count = draw.whole(0, len(shape))
    items = [_place(draw, length) if draw.chance(0.4) else _slice(draw, length) for length in shape[:count]]
    if count < len(shape) and draw.chance(0.25):
        items.append(Ellipsis)
        for length in shape[len(shape) - draw.whole(0, len(shape) - count):]:
            items.append(_slice(draw, length) if draw.chance(0.5) else _place(draw, length))
    while draw.chance(0.15):
        items.insert(draw.whole(0, len(items)), None)
    if draw.chance(0.01):
        items.extend([0] * (len(shape) + 1))
    text = ", ".join(map(_shown, items)) or "()"
    return text if len(items) != 1 or draw.chance(0.9) else text + ","


def contiguous(draw, shape):
    """A key whose part is one piece of memory: numbers, then one slice of step 1, then all of the rest."""
    at = draw.whole(0, max(len(shape) - 1, 0))
    items = []
    for axis, length in enumerate(shape):
        if axis < at:
            place = _place(draw, length)
            items.append(place if draw.chance(0.7) or not length else slice(place % length, place % length + 1))
        elif axis == at:
            items.append(_slice(draw, length))
            items[-1] = slice(items[-1].start, items[-1].stop)
        elif draw.chance(0.4):
            items.append(slice(None))
        else:
            break
    if draw.chance(0.15):
        items.insert(0, None)
    return ", ".join(map(_shown, items)) or "..."


def advanced(draw, shape):
    """A key with arrays, lists or truths in it, as text; arrays become inputs k, k1, k2."""
    if shape and draw.chance(0.25):
        axes = draw.whole(1, len(shape))
        return draw.keep("k", draw.values("bool", shape[:axes]))
    if not shape or draw.chance(0.02):
        return draw.pick(("True", "False", "[]"))
    places = draw.shape(0, 2)
    items = []
    for axis, length in enumerate(shape[:draw.whole(1, len(shape))]):
        way = draw.random.random()
        if way < 0.55 or axis == 0:
            near = places if draw.chance(0.8) else (1,) * draw.whole(0, 1)
            count = int(numpy.prod(near, dtype=int))
            dtype = draw.pick(("int64", "int64", "int32", "int8", "uint8") if length < 128 else ("int64", "int32"))
            low = 0 if dtype == "uint8" else -length
            values = numpy.array([draw.whole(low, max(length - 1, low)) for _ in range(count)], dtype).reshape(near)
            if draw.chance(0.25) and values.size:
                items.append(str(values.tolist()))
            else:
                items.append(draw.keep(f"k{axis or ''}", values))
        elif way < 0.75:
            items.append(_shown(_slice(draw, length)))
        elif way < 0.9:
            items.append(str(_place(draw, length)))
        else:
            items.append("None")
    return ", ".join(items)


def key(draw, shape):
    return basic(draw, shape) if draw.chance(0.65) else advanced(draw, shape)
