# SPDX-License-Identifier: Apache-2.0
"""Images: the MNIST data set and transforms."""
from ...._absent import refusing
from . import transforms
from .mnist import MNIST

__all__ = ["MNIST", "transforms"]

__getattr__ = refusing(__name__)
