"""What mloop_csv.py and xopt_csv.py share: from columns of numbers to a table for a warm start."""

import argparse
import csv
import math
import re
import sys


def arguments(doc):
    """The command line; doc is the script's own description."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("column", nargs="+", metavar="'[OLD=]NAME [UNIT]'",
                        help="a column to write: what it is called in tuner's file, and there (OLD), where that differs; with its unit, which the archive does not tell")
    parser.add_argument("--goal", required=True, choices=["maximize", "minimize"],
                        help="of the [objective] in tuner's file; where the archive has the other one, the objective's sign is turned")
    return parser.parse_args()


def write(args, columns, objective, minimizes, failed):
    """Write the rows that have a value in each column and have not failed to stdout.

    columns are lists of equal length by name; objective is the name of the one that was
    minimised (or else maximised).
    """
    wanted = []
    for text in args.column:
        found = re.fullmatch(r"(?:(?P<old>[^=\[\]]+)=)?(?P<name>[^=\[\]]+?)\s*\[(?P<unit>[^\]]+)\]", text)
        if not found:
            sys.exit(f"{text!r} must be 'NAME [UNIT]' or 'OLD=NAME [UNIT]', such as 'cost=loss [1]'")
        old = found["old"] or found["name"]
        if old not in columns:
            sys.exit(f"{args.archive}: there is no {old!r}; it has {', '.join(columns)}")
        wanted.append((old, f"{found['name']} [{found['unit']}]"))
    if objective not in [old for old, _ in wanted]:
        sys.exit(f"{args.archive}: the objective there is {objective!r}; name it among the columns")
    turned = minimizes != (args.goal == "minimize")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow([header for _, header in wanted])
    kept = 0
    for i, bad in enumerate(failed):
        row = [columns[old][i] for old, _ in wanted]
        if bad or not all(isinstance(x, (int, float)) and math.isfinite(x) for x in row):
            continue
        table.writerow([repr(-float(x) if turned and old == objective else float(x)) for x, (old, _) in zip(row, wanted)])
        kept += 1
    print(f"{kept} observations of {args.archive}, {len(failed) - kept} left out"
          + (f"; the sign of {objective} is turned: it was {'min' if minimizes else 'max'}imised there" if turned else ""), file=sys.stderr)
