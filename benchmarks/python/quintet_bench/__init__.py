# SPDX-License-Identifier: BSL-1.0
"""quintet-bench: plans runs, compares them, and writes tables, JSON and pages. The program itself serves and loads."""
