# SPDX-License-Identifier: BSL-1.0
"""A server beside hostile or very many peers: scenarios for ours, attacks on any."""
