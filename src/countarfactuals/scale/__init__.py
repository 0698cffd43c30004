"""Many rows on many machines, by engines that exist: Dask, Spark and Ray take parts of a table to `explain_frame`.

- `saved` names an explainer in its file or folder, which every worker reads once; `Job` says what is asked of a part.
- `dask.explain`, `spark.explain` and `ray.explain` take a frame of that library and a job, and give a lazy frame with
  declared columns.
- Each of these modules, and `local`, also has `finished`, by which the command line hands out parts of files.

No engine is imported before it is used.
"""

from countarfactuals.counterfactuals.lines import arrow_schema
from countarfactuals.scale.job import Job
from countarfactuals.scale.shipped import SavedExplainer, saved

__all__ = ["Job", "SavedExplainer", "arrow_schema", "saved"]
