# SPDX-License-Identifier: Apache-2.0
"""Devices under the names of MXNet 2.0; see `context`."""
from .context import (Device, cpu, cpu_pinned, current_device, gpu, gpu_memory_info,
                      num_gpus)

__all__ = ["Device", "cpu", "cpu_pinned", "current_device", "gpu", "gpu_memory_info", "num_gpus"]
