"""The progress bar: a widget in notebooks that can show one, else a line of text.

Without ipywidgets tqdm warns in every notebook that imports it, of what no reader of a result can mend.
"""

from __future__ import annotations

import warnings

from tqdm import TqdmWarning

with warnings.catch_warnings():
    warnings.simplefilter("ignore", TqdmWarning)
    from tqdm.auto import tqdm

__all__ = ["tqdm"]
