# SPDX-License-Identifier: Apache-2.0
"""What Nvidia's tools can be told; of a GPU there is nothing here."""
from . import nvtx

__all__ = ["nvtx"]
