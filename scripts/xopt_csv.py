#!/usr/bin/env python3
"""Turns a file of Xopt or Badger (.yaml) into a table for tuner's warm start.

    python3 xopt_csv.py run.yaml --goal maximize 'current [A]' 'atoms [1]' > run.csv
    tuner run mot.toml --warm-start run.csv

It needs PyYAML, which Xopt needs too. Evaluations that failed are left out.
"""

import sys

import yaml

import archive_table


def main():
    args = archive_table.arguments(__doc__)
    try:
        with open(args.archive, encoding="utf-8") as file:
            dump = yaml.safe_load(file)
        # The vocabulary stands at the top or, from Xopt 3 on, with the generator.
        vocs = dump.get("vocs") or dump["generator"]["vocs"]
        # A column is a list, or a table by row number.
        columns = {name: list(column) if isinstance(column, list) else [column[row] for row in sorted(column, key=int)]
                   for name, column in dump["data"].items()}
        (objective, sense), = vocs["objectives"].items()
        rows = len(columns[objective])
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, ValueError, TypeError, AttributeError) as error:
        sys.exit(f"{args.archive}: it is not a file of Xopt or Badger with data and one objective: {error!r}")
    failed = columns.pop("xopt_error", [False] * rows)
    if not all(len(column) == rows for column in [failed, *columns.values()]):
        sys.exit(f"{args.archive}: its columns are not of one length")
    # "MINIMIZE", or a type: {"type": "MinimizeObjective"}.
    archive_table.write(args, columns, objective, "minimize" in str(sense).lower(), failed)


if __name__ == "__main__":
    main()
