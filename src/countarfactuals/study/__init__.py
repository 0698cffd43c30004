"""The paper's experiments as one command: `countarfactuals study`, or `run_study` of a `Design`.

design, sets ─ runner ─ store ─ tables, trade_off ─ findings ─ telling ─ report, figures

| file | does |
|---|---|
| `design.py` | what is compared: data, methods and their settings |
| `sets.py` | the registry of data sets, each with its process, its black box and the rows to explain |
| `measures.py` | one explanation, and the measures of every valid candidate that it evaluated |
| `store.py` | files that are written as the study goes, and read again by `--resume` |
| `runner.py` | jobs in processes |
| `tables.py`, `trade_off.py` | from candidates to tables; what plausibility costs |
| `published.py` | the published results, in the same form |
| `findings.py` | the paper's findings and ours, held against the tables |
| `telling.py`, `report.py`, `figures/` | words, the page and the pictures |
| `study.py` | all of it |
"""

from countarfactuals.study.design import METHODS, Design
from countarfactuals.study.run import run_study
from countarfactuals.study.sets import Case, register_set

__all__ = ["METHODS", "Case", "Design", "register_set", "run_study"]
