"""Seconds that arfpy takes to fit, fit its leaves and draw 1,000 rows; runs in the peers' environment.

    .venv-peers/bin/python benchmarks/peer_arfpy.py data.csv n_trees [draws.csv]

The draws are written to the file, if one is named. arfpy has no densities.
"""

import sys
import time

import pandas as pd
from arfpy import arf

data = pd.read_csv(sys.argv[1])
data = data.astype({name: "category" for name in data.select_dtypes("object")})
start = time.perf_counter()
forest = arf.arf(x=data, num_trees=int(sys.argv[2]), random_state=1, verbose=False)
forest.forde()
rows = forest.forge(n=1000)
assert len(rows) == 1000
print(time.perf_counter() - start)
if len(sys.argv) > 3:
    rows.to_csv(sys.argv[3], index=False)
