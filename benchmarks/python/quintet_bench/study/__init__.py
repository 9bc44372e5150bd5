# SPDX-License-Identifier: BSL-1.0
"""What a server under load does to the machine: hardware counters, /proc, a load that misses, and the report."""
