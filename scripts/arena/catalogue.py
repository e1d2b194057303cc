"""All problems of the arena by name. They are made when they are asked for."""

from functools import lru_cache

import collection_bbob
import collection_instruments
import collection_tables
from split import half

MAKERS = {**collection_bbob.problems(), **collection_instruments.problems(), **collection_tables.problems()}


def half_of(name):
    return half(MAKERS[name][0])


@lru_cache
def problem(name):
    if name not in MAKERS:
        raise KeyError(f"there is no problem {name!r}; scripts/arena/arena problems lists them")
    group, make = MAKERS[name]
    made = make()
    assert (made.id, made.group) == (name, group), f"{name}: made as {made.id} of {made.group}"
    return made
