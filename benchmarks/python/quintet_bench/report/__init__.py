# SPDX-License-Identifier: BSL-1.0
"""The reports as self-contained HTML pages: sections with tables, and plots that are SVG elements."""
