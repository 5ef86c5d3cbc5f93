# SPDX-License-Identifier: Apache-2.0
"""Modules of 1.x: symbols with parameters, which are trained by one call."""
from .._absent import refusing
from .base_module import BaseModule
from .bucketing_module import BucketingModule
from .module import Module

__all__ = ["BaseModule", "BucketingModule", "Module"]

__getattr__ = refusing(__name__)
