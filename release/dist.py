"""sdist and wheel, checked: `make dist`.

1. Both are built, the wheel from the sdist.
2. The wheel holds every file of the package that the repository has and nothing else but what tells of it, with the
   licence and those of vendored files; the sdist what is needed to build it. Neither has a test.
3. Citation, workflows and issue templates are held against their schemas.
4. Each Python at hand gets two clean environments, outside the repository: the sdist with the oldest packages that are
   supported, and the wheel with the newest. In each `countarfactuals demo` and `smoke.py` run.
5. A list of all parts (SBOM) is made of the last environment with the newest packages: `dist/sbom.json`.

A Python for which the oldest packages were never built is told as such; where one environment fails, all fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PACKAGE = "src/countarfactuals/"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
ALSO_IN_SDIST = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "oldest.txt")
WITH_OLDEST = ("3.11", "3.12")  # NumPy 1.26 and numba 0.60 were made for no later one
SCHEMAS = {
    "citation-file-format": ["CITATION.cff"],
    "github-workflows": sorted(map(str, ROOT.glob(".github/workflows/*.yml"))),
    "github-issue-forms": ["wrong.yml", "missing.yml"],
    "github-issue-config": [".github/ISSUE_TEMPLATE/config.yml"],
    "readthedocs": [".readthedocs.yaml"],
}


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    wheel, sdist = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    check_contents(wheel, sdist)
    check_schemas()
    with tempfile.TemporaryDirectory() as folder:
        lines = try_all(Path(folder), wheel, sdist)
    print("\n| Python | packages | installed | MB | demo s | smoke s |\n|---|---|---|---|---|---|", *lines, sep="\n")
    print(
        *(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} kB" for path in sorted(DIST.iterdir())), sep="\n"
    )


def run(*words: object, **options: object) -> str:
    """What a command prints; its errors end the program."""
    done = subprocess.run([*map(str, words)], capture_output=True, encoding="utf-8", check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def check_contents(wheel: Path, sdist: Path) -> None:
    tracked = run("git", "ls-files", PACKAGE, cwd=ROOT).splitlines()
    expected = {path.removeprefix("src/") for path in tracked}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = {name for name in names if ".dist-info/" not in name}
    assert package == expected, package ^ expected
    licences = {name for path in tracked if (name := PurePosixPath(path).name).startswith("LICENSE")}
    about = {PurePosixPath(name).name for name in names - package}
    assert about == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE", *licences}, about
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert held == {*tracked, *ALSO_IN_SDIST, "PKG-INFO", ".gitignore"}, held ^ {*tracked, *ALSO_IN_SDIST}
    vendored = [path for path in tracked if "vendor" in path and path.endswith((".js", ".css"))]
    for path in vendored:  # each has its licence beside it
        assert any("LICENSE" in other for other in tracked if PurePosixPath(other).parent == PurePosixPath(path).parent)
    print(f"wheel: {len(package)} files of the package; sdist: {len(held)} files")


def check_schemas() -> None:
    for schema, names in SCHEMAS.items():
        found = [name if (ROOT / name).exists() else f".github/ISSUE_TEMPLATE/{name}" for name in names]
        run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *found, cwd=ROOT)
    print(f"valid: {', '.join(SCHEMAS)}")


def try_all(folder: Path, wheel: Path, sdist: Path) -> list[str]:
    """A line of the table for each environment."""
    lines = []
    for version in PYTHONS:
        python = interpreter(version)
        if python is None:
            lines.append(f"| {version} | | not at hand | | | |")
            continue
        if version in WITH_OLDEST:
            lines.append(try_one(folder, python, version, "oldest", sdist, "-c", ROOT / "oldest.txt"))
        lines.append(try_one(folder, python, version, "newest", wheel))
    return lines


def interpreter(version: str) -> str | None:
    """A Python of this version that starts, among those on the path and those of pyenv."""
    at_hand = [shutil.which(f"python{version}")]
    at_hand += map(str, sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    for path in filter(None, at_hand):
        said = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True)
        if said.stdout.decode().strip() == version:
            return path
    return None


def try_one(folder: Path, python: str, version: str, packages: str, archive: Path, *constraints: object) -> str:
    place = folder / f"{version}-{packages}"
    run(python, "-m", "venv", place / "venv")
    own = place / "venv" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    environment["NUMBA_CACHE_DIR"] = str(place / "kernels")
    said = {"cwd": place, "env": environment}
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(own, *install, f"{archive}", *constraints, **said)
    size = sum(path.stat().st_size for path in (place / "venv").rglob("*") if path.is_file()) / 2**20
    run(own, *install, f"{archive}[cli,plot]", *constraints, **said)
    run(own, "-m", "pip", "check", **said)
    seconds = []
    for words in ((own.parent / "countarfactuals", "demo"), (own, ROOT / "release" / "smoke.py")):
        started = time.perf_counter()
        run(*words, **said)
        seconds.append(f"{time.perf_counter() - started:.0f}")
    if packages == "newest":
        bom = ("environment", own, "--pyproject", ROOT / "pyproject.toml", "--of", "JSON", "-o", DIST / "sbom.json")
        run(Path(sys.executable).parent / "cyclonedx-py", *bom)
    shutil.rmtree(place / "venv")
    print(f"Python {version} with the {packages} packages: works", flush=True)
    return f"| {version} | {packages} | {archive.suffix.removeprefix('.')} | {size:.0f} | {' | '.join(seconds)} |"


if __name__ == "__main__":
    main()
