#!/usr/bin/env python3
"""Turns an archive of M-LOOP, as text, into a table for tuner's warm start.

    python3 mloop_csv.py controller_archive.txt --goal minimize 'current [A]' 'cost=loss [1]' > archive.csv
    tuner run mot.toml --warm-start archive.csv

It reads a controller's or a learner's archive. Have M-LOOP write text:
controller_archive_file_type = 'txt', learner_archive_file_type = 'txt'; or convert another with
mloop.utilities.get_dict_from_file and save_dict_to_file. Runs that were bad are left out. The
result is called cost; parameters without names are param_0, param_1 and so on.
"""

import ast
import math
import sys

import archive_table

MEMBERS = ("param_names", "out_params", "in_costs", "in_bads", "all_params", "all_costs", "bad_run_indexs")


def value(node):
    """A literal as Python writes it, with inf, nan, array([...]) and np.float64(...)."""
    if isinstance(node, ast.Call) and node.args:
        return value(node.args[0])
    if isinstance(node, (ast.List, ast.Tuple)):
        return [value(item) for item in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value(node.operand)
    if isinstance(node, ast.Name) and node.id in ("inf", "nan"):
        return float(node.id)
    found = ast.literal_eval(node)
    if found is Ellipsis:
        raise ValueError("NumPy has left out values of it (...)")
    return found


def flat(items):
    """The numbers in a list; early versions wrote lists into the indexes of bad runs."""
    for item in items:
        yield from flat(item) if isinstance(item, list) else [item]


def main():
    args = archive_table.arguments(__doc__)
    found, number = {}, 0
    try:
        with open(args.archive, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                key, _, text = line.partition("=")
                if key in MEMBERS:
                    found[key] = value(ast.parse(text.strip(), mode="eval").body)
                    if not isinstance(found[key], (list, type(None))):
                        raise ValueError(f"it is {text.strip()}")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{args.archive}: {error}; is it an archive as text?")
    except (SyntaxError, ValueError, TypeError, RecursionError) as error:
        sys.exit(f"{args.archive}:{number}: {key} is no list as Python writes it: {error}")
    params, costs = found.get("out_params"), found.get("in_costs")
    bad = found.get("in_bads") or []
    if costs is None:
        params, costs = found.get("all_params"), found.get("all_costs")
        indexes = set(flat(found.get("bad_run_indexs") or []))
        bad = [i in indexes for i in range(len(costs or []))]
    if not params or not costs or not all(isinstance(row, list) and len(row) == len(params[0]) for row in params):
        sys.exit(f"{args.archive}: it has no runs in out_params and in_costs (a controller's archive) nor in all_params and all_costs (a learner's)")
    names = found.get("param_names") or [f"param_{i}" for i in range(len(params[0]))]
    runs = min(len(params), len(costs))  # one that was under way has no cost yet
    columns = {name: [row[i] for row in params[:runs]] for i, name in enumerate(names)}
    columns["cost"] = costs[:runs]
    failed = [i < len(bad) and bool(bad[i]) for i in range(runs)]
    archive_table.write(args, columns, "cost", True, failed)


if __name__ == "__main__":
    main()
