"""Formulas as pictures inside the page, drawn by matplotlib, so that pages need neither a network nor LaTeX."""

import base64
import io
from html import escape

import matplotlib

matplotlib.use("Agg")

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import math_to_image


def picture(latex: str, size: float) -> str:
    """An `img` element of a formula; what it says in LaTeX is its alternative text."""
    file = io.BytesIO()
    depth = math_to_image(f"${' '.join(latex.split())}$", file, prop=FontProperties(size=size), format="svg")
    source = base64.b64encode(file.getvalue()).decode()
    style = f"vertical-align: {-depth:.0f}px; background: white"
    return f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(latex)}" style="{style}">'


def visit_inline(translator, node) -> None:
    """A formula in a line of text."""
    translator.body.append(picture(node.astext(), 10))
    raise nodes.SkipNode


def visit_block(translator, node) -> None:
    """A formula on a line of its own."""
    translator.body.append(f'<p style="text-align: center">{picture(node.astext(), 12)}</p>')
    raise nodes.SkipNode


def setup(app) -> dict:
    """Called by Sphinx."""
    app.add_html_math_renderer("matplotlib", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
