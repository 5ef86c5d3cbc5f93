# SPDX-License-Identifier: Apache-2.0
"""Built-in digit images: the ten digits as strokes, drawn with random shift, rotation, scale, slant,
stroke and noise.

The set stands in for MNIST where its files are not there. It is drawn from a fixed seed, so that
everybody trains on the same images, and it is not easy: a linear classifier stays below 93 %.
"""
from __future__ import annotations

from typing import List, Tuple

import numpy as np

SIDE = 28  # pixels
_BLOCK = 250  # images drawn at a time: their distances take about 50 MB


def _arc(cx: float, cy: float, rx: float, ry: float, begin: float, end: float,
         points: int = 9) -> List[Tuple[float, float]]:
    """Points of an ellipse's arc. Angles are degrees, 0 to the right and 90 downwards."""
    angles = np.radians(np.linspace(begin, end, points))
    return [(cx + rx * float(np.cos(a)), cy + ry * float(np.sin(a))) for a in angles]


# Each digit has one or two ways to be written; a way is a list of strokes, a stroke a list of points
# (x to the right, y downwards) in the square from -1 to 1.
_SHAPES: List[List[List[List[Tuple[float, float]]]]] = [
    [[_arc(0, 0, 0.55, 0.85, -90, 270, 17)]],
    [[[(-0.3, -0.55), (0.05, -0.85), (0.05, 0.85)]],
     [[(0.0, -0.85), (0.0, 0.85)]]],
    [[_arc(0, -0.4, 0.5, 0.45, -170, 30) + [(-0.55, 0.85), (0.6, 0.85)]],
     [_arc(0, -0.4, 0.5, 0.45, -160, 50) + _arc(-0.3, 0.7, 0.2, 0.15, 0, -300, 7)
      + [(0.6, 0.8)]]],
    [[_arc(-0.05, -0.43, 0.5, 0.42, -150, 90) + _arc(-0.05, 0.43, 0.58, 0.44, -90, 150)],
     [[(-0.5, -0.85), (0.45, -0.85), (-0.05, -0.15)] + _arc(-0.05, 0.37, 0.55, 0.5, -80, 150)]],
    [[[(0.2, -0.85), (-0.6, 0.3), (0.6, 0.3)], [(0.25, -0.25), (0.25, 0.85)]],
     [[(-0.5, -0.8), (-0.5, 0.05), (0.45, 0.05)], [(0.45, -0.85), (0.45, 0.85)]]],
    [[[(0.5, -0.85), (-0.4, -0.85), (-0.45, -0.1)] + _arc(-0.05, 0.32, 0.55, 0.53, -120, 150)]],
    [[[(0.4, -0.85), (-0.2, -0.35)] + _arc(0, 0.35, 0.52, 0.5, -160, 200, 15)],
     [[(0.1, -0.85), (-0.45, 0.1)] + _arc(-0.02, 0.42, 0.45, 0.42, 180, 520, 15)]],
    [[[(-0.55, -0.85), (0.55, -0.85), (-0.1, 0.85)]],
     [[(-0.55, -0.8), (0.55, -0.85), (-0.1, 0.85)], [(-0.25, 0.0), (0.4, 0.0)]]],
    [[_arc(0, -0.42, 0.42, 0.42, -90, 270, 13), _arc(0, 0.42, 0.52, 0.44, -90, 270, 13)]],
    [[_arc(0, -0.35, 0.5, 0.5, 0, 360, 15) + [(0.4, 0.85)]],
     [_arc(0.0, -0.4, 0.47, 0.44, -20, 340, 13) + [(0.5, -0.3)] + _arc(0.0, 0.3, 0.5, 0.55, 0, 140, 7)]],
]


def _segments(way: List[List[Tuple[float, float]]]) -> np.ndarray:
    """(S, 2, 2): begin and end of every segment of a way of writing."""
    return np.array([(stroke[i], stroke[i + 1]) for stroke in way for i in range(len(stroke) - 1)])


_WAYS = [[_segments(way) for way in shape] for shape in _SHAPES]
_LONGEST = max(len(way) for shape in _WAYS for way in shape)


def _choose(labels: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """(N, S, 2, 2): the segments of each image, short ways filled up with their last segment."""
    chosen = np.empty((len(labels), _LONGEST, 2, 2))
    for i, label in enumerate(labels):
        way = _WAYS[label][random.randint(len(_WAYS[label]))]
        chosen[i, :len(way)] = way
        chosen[i, len(way):] = way[-1]
    return chosen


def _bend(segments: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """A smooth random warp, so that no two images of a digit have the same strokes."""
    count = len(segments)
    bent = segments.copy()
    for axis in (0, 1):
        amplitude = random.uniform(-0.12, 0.12, (count, 1, 1))
        frequency = random.uniform(1.0, 3.0, (count, 1, 1))
        phase = random.uniform(0, 2 * np.pi, (count, 1, 1))
        bent[..., axis] += amplitude * np.sin(frequency * segments[..., 1 - axis] + phase)
    return bent


def _place(segments: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """From the unit square to pixels: slant, rotation, scale, shift."""
    count = len(segments)
    angle = np.radians(random.uniform(-20, 20, count))
    slant = random.uniform(-0.25, 0.25, count)
    scale = random.uniform(7.5, 11.0, (count, 2))
    shift = random.uniform(-2.5, 2.5, (count, 1, 1, 2)) + (SIDE - 1) / 2
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.array([[cos, -sin], [sin, cos]]).transpose(2, 0, 1)
    shape = np.zeros((count, 2, 2))
    shape[:, 0, 0], shape[:, 1, 1] = scale[:, 0] * 0.85, scale[:, 1]
    shape[:, 0, 1] = -slant * scale[:, 1]
    return np.einsum("nij,nspj->nspi", turn @ shape, segments) + shift


def _distances(segments: np.ndarray) -> np.ndarray:
    """(N, SIDE * SIDE): how far each pixel is from the nearest stroke, in pixels."""
    ys, xs = (grid.reshape(1, -1) for grid in np.mgrid[0:SIDE, 0:SIDE].astype(np.float32))
    nearest = np.full((len(segments), SIDE * SIDE), np.inf, dtype=np.float32)
    for s in range(segments.shape[1]):
        (x0, y0), (x1, y1) = segments[:, s].astype(np.float32).transpose(1, 2, 0)[..., None]
        along_x, along_y = x1 - x0, y1 - y0
        length2 = np.maximum(along_x ** 2 + along_y ** 2, np.float32(1e-6))
        off_x, off_y = xs - x0, ys - y0
        part = np.clip((off_x * along_x + off_y * along_y) / length2, 0, 1)
        off_x -= part * along_x
        off_y -= part * along_y
        np.minimum(nearest, off_x * off_x + off_y * off_y, out=nearest)
    return np.sqrt(nearest)


def _draw(labels: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    segments = _place(_bend(_choose(labels, random), random), random)
    count = len(labels)
    width = random.uniform(0.6, 1.7, (count, 1))
    ink = random.uniform(0.6, 1.0, (count, 1))
    noise = random.uniform(0.0, 0.15, (count, 1))
    grey = ink * np.clip(width + 0.5 - _distances(segments), 0, 1)
    grey += noise * random.standard_normal(grey.shape)
    return (np.clip(grey, 0, 1) * 255).astype(np.uint8).reshape(count, SIDE, SIDE)


def make(count: int, seed: int) -> Tuple[np.ndarray, np.ndarray]:
    """`count` images, uint8 (count, 28, 28), ink bright, and their labels, uint8 (count,).

    The same count and seed give the same bytes on every machine and NumPy version.
    """
    random = np.random.RandomState(seed)
    labels = random.randint(10, size=count).astype(np.uint8)
    images = np.empty((count, SIDE, SIDE), dtype=np.uint8)
    for first in range(0, count, _BLOCK):
        images[first:first + _BLOCK] = _draw(labels[first:first + _BLOCK], random)
    return images, labels
