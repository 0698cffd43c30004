"""How the documentation is built: `make docs`."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "docs")]

project = "countarfactuals"
author = "the countarfactuals developers"
extensions = ["myst_nb", "sphinx.ext.autodoc", "docstrings", "sphinx.ext.napoleon", "formulas"]
default_role = "code"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# notebooks are texts that run whenever the site is built
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds of one cell: the first of all compiles kernels
nb_merge_streams = True
os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"  # of notebooks without widgets, which no page shows
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "countarfactuals"
html_static_path = ["_static"]
html_css_files = ["notebooks.css"]
html_math_renderer = "matplotlib"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
nitpicky = False


def draw_gallery(app) -> None:
    """The pictures of the gallery, by the example that users can run too."""
    import pictures

    pictures.main(str(Path(app.srcdir) / "_static" / "gallery"))


def setup(app) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", draw_gallery)
