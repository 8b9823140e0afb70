# SPDX-License-Identifier: Apache-2.0
"""The exceptions of failed calls of the library."""


class Error(Exception):
    """A call of the library failed. `status` is its number in vscan.h, `name` the number's name.

    The classes below are also Python's own ones, so `except ValueError` catches an ArgumentError.
    """

    def __init__(self, status, message="", name=""):
        super().__init__(status, message, name)
        self.status, self.message, self.name = status, message, name

    def __str__(self):
        return f"{self.message} ({self.name})" if self.name else str(self.message)


class ArgumentError(Error, ValueError):
    """An argument was refused, or the data is wrong (offsets that fall, a position out of range)."""


class DTypeError(Error, TypeError):
    """The wrong element type."""


class OutOfMemoryError(Error, MemoryError):
    """The host or the device has no memory left."""


class DeviceError(Error, RuntimeError):
    """A backend or a device cannot be used, or failed."""


def error_of_status(status, name, message):
    if status in (103, 108):
        kind = DTypeError
    elif status in (200, 201):
        kind = OutOfMemoryError
    elif 300 <= status < 400:
        kind = DeviceError
    else:
        kind = ArgumentError
    return kind(status, message, name)
