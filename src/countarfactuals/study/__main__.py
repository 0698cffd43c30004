"""`python -m countarfactuals.study`."""

import sys

from countarfactuals.study.command import main

if __name__ == "__main__":
    sys.exit(main())
