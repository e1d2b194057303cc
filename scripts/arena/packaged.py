"""Files that an installed package carries, without importing it: some of them want much that is not needed here."""

import importlib.metadata


class Missing(Exception):
    """A package that is not installed here; says how to get it."""


def located(package, path):
    return importlib.metadata.distribution(present(package)).locate_file(path)


def present(package):
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise Missing(f"{package} is not installed; see requirements.txt") from None
    return package
