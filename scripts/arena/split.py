"""Which problems are for development, and which are looked at once.

A problem's half follows from its group, so that one function in two sizes lies on one side. The salt was committed
before any result of the unseen half. It is the first of tuner-arena-1, tuner-arena-2, ... that puts 45 to 55 % of the
problems, 35 to 65 % of each collection, and the two on which the harness was first tried on the side of development.
Another salt would be another split, chosen with results in sight.
"""

import hashlib

SALT = "tuner-arena-21"
DEVELOPMENT, UNSEEN = "development", "unseen"


def half(group):
    digest = hashlib.sha256(f"{SALT}:{group}".encode()).digest()
    return DEVELOPMENT if digest[0] % 2 == 0 else UNSEEN
