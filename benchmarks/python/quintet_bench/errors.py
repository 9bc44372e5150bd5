# SPDX-License-Identifier: BSL-1.0
"""What can go wrong, and how main() tells it."""


class UsageError(Exception):
    """The user asked for something unknown or impossible: one line on standard error, exit status 2."""


class FileError(UsageError, ValueError):
    """A file that the user gave is not what it should be. The text begins with its path."""


class RunError(Exception):
    """A run, or the whole command, could not be done: one line on standard error, exit status 1."""
