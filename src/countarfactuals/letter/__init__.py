"""Letters: a decision, its reasons and what would have changed it, for the person whom it concerns.

- `contents`: `Letter`, all that a letter says, as data.
- `compose`: `make_letter`, from a result and the explainer that made it.
- `influences`: which features were in fact scored, and how far each alone moves the score.
- `fingerprints`: hashes of model, data and explainer.
- `wording`: the letter in words, section by section; `layout`: these as plain text and as HTML.
"""

from countarfactuals.letter.compose import make_letter
from countarfactuals.letter.contents import Fingerprint, HeldFixed, Letter, Reason

__all__ = ["Fingerprint", "HeldFixed", "Letter", "Reason", "make_letter"]
