# SPDX-License-Identifier: BSL-1.0
"""Simulates more cores than this machine has, with costs that are measured on it."""
