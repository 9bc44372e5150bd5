# SPDX-License-Identifier: BSL-1.0
"""The commands: ABOUT, add_options(parser, build) and run(arguments, build) -> exit status."""
