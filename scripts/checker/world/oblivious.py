"""A program that asks what kind of file system it writes to gets no answer.

On FUSE the journal is kept without a shared log, which is right, and not what users on a local disk have. Under a filter
of system calls statfs(2) says nothing, all zeros, and the disk that forgets passes for a local one."""

import ctypes
import platform
import struct

# Audit number of the architecture, statfs, fstatfs.
NUMBERS = {"x86_64": (0xC000003E, 137, 138), "aarch64": (0xC00000B7, 43, 44)}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, NOTHING = 0x7FFF0000, 0x00050000     # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO with 0: done, and nothing was
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2

LIBC = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def possible():
    return platform.machine() in NUMBERS


def become():
    """Puts this process, and what it starts, under the filter; between fork and exec."""
    arch, statfs, fstatfs = NUMBERS[platform.machine()]
    steps = [(LOAD, 0, 0, 4), (EQUAL, 0, 3, arch), (LOAD, 0, 0, 0), (EQUAL, 2, 0, statfs), (EQUAL, 1, 0, fstatfs), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, NOTHING)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or LIBC.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls")
