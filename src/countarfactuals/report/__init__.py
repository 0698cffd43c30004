"""Reports: a result, or a batch of results, as one HTML file that needs nothing else.

- `document`: `to_html` and `write`, which join the rest, and how a result was made.
- `single`: the data about one row; `many`: that about a batch.
- `pictures`: pictures inside the page, where matplotlib is installed.
- `page`: fills the templates, `templates/*.html.j2`, which hold the structure; `page.css` and `page.js` stand in every
  page as they are.
"""

from countarfactuals.report.document import to_html, write

__all__ = ["to_html", "write"]
