"""Checks an export of documents against Bluesky's own JSON schemas.

    tuner export JOURNAL --format bluesky | python3 scripts/check_bluesky.py

Needs the package event-model (pip install event-model). Beside the schemas it checks what
they cannot say: that documents refer to those before them, that events have the keys of
their descriptor, and that the stop counts them.
"""

import json
import sys

from event_model import DocumentNames, schema_validators

NAMES = {"start": DocumentNames.start, "descriptor": DocumentNames.descriptor,
         "event": DocumentNames.event, "stop": DocumentNames.stop}


def check(lines):
    start, stop, descriptors, counts = None, None, {}, {}
    for number, line in enumerate(lines, 1):
        document = json.loads(line)
        name, doc = document["name"], document["doc"]
        schema_validators[NAMES[name]].validate(doc)
        if stop is not None:
            raise ValueError("line %d: a %s after the stop" % (number, name))
        if name == "start":
            if start is not None:
                raise ValueError("line %d: a second start" % number)
            start = doc
            continue
        if start is None:
            raise ValueError("line %d: a %s before the start" % (number, name))
        if name == "descriptor":
            assert doc["run_start"] == start["uid"], number
            assert set(doc["object_keys"]["tuner"]) == set(doc["data_keys"]), number
            descriptors[doc["uid"]] = doc
            counts[doc["name"]] = 0
        elif name == "event":
            descriptor = descriptors[doc["descriptor"]]
            assert set(doc["data"]) == set(doc["timestamps"]) == set(descriptor["data_keys"]), number
            counts[descriptor["name"]] += 1
            assert doc["seq_num"] == counts[descriptor["name"]], number
        else:
            assert doc["run_start"] == start["uid"], number
            assert doc["num_events"] == counts, (doc["num_events"], counts)
            stop = doc
    if start is None:
        raise ValueError("there is no start")
    return counts, stop


if __name__ == "__main__":
    counts, stop = check(open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin)
    streams = ", ".join("%d of %s" % (n, stream) for stream, n in sorted(counts.items()))
    print("sound: %s; %s" % (streams, "ended by " + stop["reason"] if stop else "not ended"))
