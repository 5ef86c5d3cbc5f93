# SPDX-License-Identifier: Apache-2.0
"""Images: the MNIST data set and transforms."""
from . import transforms
from .mnist import MNIST

__all__ = ["MNIST", "transforms"]
