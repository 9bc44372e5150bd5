# SPDX-License-Identifier: BSL-1.0
"""What `quintet-bench sweep` concludes from its curves."""
