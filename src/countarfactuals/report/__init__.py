"""Reports: a result, or a batch of results, as one HTML file that needs nothing else.

- `document`: `to_html` and `write`, which join the rest.
- `page`: the frame of every page: style, script, and a policy that forbids the browser to fetch anything.
- `single`: the sections about one row; `many`: those about a batch.
- `table`: tables that can be sorted and filtered.
- `pictures`: pictures inside the page, where matplotlib is installed.
- `provenance`: how a result was made, and what it does not claim.
- `page.css` and `page.js` stand in every page as they are.
"""

from countarfactuals.report.document import to_html, write

__all__ = ["to_html", "write"]
