"""How the documentation is built: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "docs")]

project = "countarfactuals"
author = "the countarfactuals developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "docstrings", "sphinx.ext.napoleon", "formulas"]
default_role = "code"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "countarfactuals"
html_static_path = ["_static"]
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
