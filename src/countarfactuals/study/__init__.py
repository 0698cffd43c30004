"""The paper's experiments as one command: `countarfactuals study`, or `python -m countarfactuals.study`.

design ─ cases ─ runner ─ counterfactuals.parquet ─ aggregate ─ per_instance.csv, summary.csv ─ findings ─ report

| file | does |
|---|---|
| `design.py` | what is compared: data, methods and their settings |
| `cases.py` | a data set with its process, its black box and the rows to explain; new ones are generated |
| `candidates.py` | one explanation, and every valid candidate that it evaluated |
| `measures.py` | the measures of candidates |
| `store.py` | files that are written as the study goes, and read again by `--resume` |
| `runner.py`, `progress.py` | jobs in processes; how far they are |
| `aggregate.py` | from candidates to tables |
| `published.py` | the published results, in the same form |
| `hypotheses.py` | the test of RQ2 |
| `calibration.py` | how true typicality is |
| `verdicts.py`, `findings.py` | who is ahead and who is level; the paper's findings and ours, held against the tables |
| `surfaces.py`, `trade_off.py`, `sentences.py` | attainment surfaces; what plausibility costs; RQ1 in sentences |
| `figures/` | the pictures |
| `report.py`, `report_rq1.py`, `report_rq2.py`, `report_claims.py`, `report_parts.py` | all of it as a page |
| `command.py` | the command line |
"""

from countarfactuals.study.design import METHODS, Design
from countarfactuals.study.study import run_study

__all__ = ["METHODS", "Design", "run_study"]
