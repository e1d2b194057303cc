"""The shots of a run as an xarray.Dataset over step and shot, with units and meanings as attributes.

    tuner export RUN.db --format parquet --shots -o shots.parquet
    python3 scripts/shots_xarray.py shots.parquet [run.nc]

It needs pip install xarray pandas pyarrow, and netCDF4 or h5netcdf to write run.nc.
"""

import json
import sys


def read(path):
    import pandas
    import pyarrow.parquet
    import xarray  # noqa: F401 to_xarray needs it

    data = pandas.read_parquet(path).rename(columns={"n": "step"}).set_index(["step", "shot"]).to_xarray()
    for column in json.loads(pyarrow.parquet.read_schema(path).metadata[b"tuner.units"])["columns"]:
        if column["name"] in data:
            data[column["name"]].attrs.update(unit=column["unit"], meaning=column["meaning"])
    return data


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    found = read(sys.argv[1])
    print(found)
    if len(sys.argv) == 3:
        found.to_netcdf(sys.argv[2])
