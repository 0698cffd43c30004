"""`python -m countarfactuals` is the command line."""

from countarfactuals.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
