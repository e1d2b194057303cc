"""Makes the archives of other optimizers that mloop_csv.py and xopt_csv.py are tested with.

    python3 -m venv env && env/bin/pip install numpy pandas pyyaml scipy
    env/bin/pip download --no-deps M-LOOP==3.3.5 && tar xzf M-LOOP-3.3.5.tar.gz
    PYTHONPATH=M-LOOP-3.3.5 env/bin/python scripts/foreign_archives.py cmd/tuner/trial/scripts/testdata/archives

The M-LOOP archives are written by M-LOOP's own mloop.utilities, with the members that its
controller and learner put into them (mloop/controllers.py, mloop/learners.py, 3.3.5). The Xopt
and Badger files are written as Xopt 3.2 does it (xopt/base.py yaml(), xopt/pydantic.py): the
data frame by DataFrame.to_json(), all of it by yaml.dump. The numbers are made up.
"""

import json
import os
import sys

import numpy as np
import pandas as pd
import yaml


def mloop(folder):
    import mloop.utilities as mlu  # M-LOOP 3.3.5

    params = [np.array([1.5, -20.5]), np.array([2.0, -18.25]), np.array([0.5, -30.0]), np.array([1.0, -25.0])]
    costs, uncers, bads = [np.float64(0.25), 0.125, float("inf"), -0.5], [0.01, 0.02, 0, 0.01], [False, False, True, False]
    mlu.save_dict_to_file({
        "mloop_version": "3.3.5", "archive_type": "controller", "num_out_params": 4, "out_params": params,
        "out_type": ["gaussian_process"] * 4, "out_extras": [None] * 4, "in_costs": costs, "in_uncers": uncers, "in_bads": bads,
        "in_extras": [{"note": "it's \\ a [test]"}] * 4, "max_num_runs": float("inf"), "start_datetime": "2026-03-01_08-00",
        "param_names": ["current", "detuning"], "num_in_costs": 4, "best_cost": -0.5, "best_uncer": 0.01, "best_params": params[3],
        "best_index": 3, "best_in_extras": {}}, os.path.join(folder, "controller_archive.txt"))
    mlu.save_dict_to_file({
        "mloop_version": "3.3.5", "archive_type": "gaussian_process_learner", "num_params": 2, "min_boundary": np.array([0.0, -40.0]),
        "max_boundary": np.array([3.0, 0.0]), "start_datetime": "2026-03-01_08-00", "param_names": ["current", "detuning"],
        "all_params": np.array(params), "all_costs": np.array([0.25, 0.125, 0.3, -0.5]), "all_uncers": np.array(uncers),
        "bad_run_indexs": [2], "length_scale": np.array([1.0, 2.0]), "noise_level": 1e-5}, os.path.join(folder, "learner_archive.txt"))


def xopt(folder):
    data = pd.DataFrame({"current": [1.5, 2.0, 0.5, 1.0], "detuning": [-20.5, -18.25, -30.0, -25.0], "atoms": [0.75, 0.875, float("nan"), 1.5],
                         "xopt_runtime": [0.1] * 4, "xopt_error": [False, False, True, False]})
    # Xopt 3: the vocabulary belongs to the generator.
    vocs = {"variables": {"current": {"type": "ContinuousVariable", "domain": [0.0, 3.0]}, "detuning": {"type": "ContinuousVariable", "domain": [-40.0, 0.0]}},
            "objectives": {"atoms": {"type": "MaximizeObjective"}}, "constraints": {}, "constants": {}, "observables": {}}
    with open(os.path.join(folder, "xopt3.yaml"), "w") as f:
        yaml.dump({"data": json.loads(data.to_json()), "evaluator": {"function": "lab.evaluate"}, "generator": {"name": "expected_improvement", "vocs": vocs}}, f)
    # Xopt 2 and Badger: it stands at the top, in short words; Badger adds its own members.
    short = {"variables": {"current": [0.0, 3.0], "detuning": [-40.0, 0.0]}, "objectives": {"atoms": "MAXIMIZE"}, "constraints": {}, "observables": []}
    lists = {k: [None if isinstance(x, float) and np.isnan(x) else x for x in v] for k, v in data.to_dict(orient="list").items()}
    with open(os.path.join(folder, "badger.yaml"), "w") as f:
        yaml.dump({"name": "nimble-otter", "description": "", "environment": {"name": "mot"}, "vocs": short, "data": lists}, f)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    mloop(sys.argv[1])
    xopt(sys.argv[1])
