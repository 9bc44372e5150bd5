# SPDX-License-Identifier: BSL-1.0
"""What a server under load does to the machine: hardware counters, /proc, cachegrind, a planted false sharing."""
