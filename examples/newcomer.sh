#!/usr/bin/env bash
# From nothing to an explanation that can be shown: a new environment, the demo, a table with text and gaps,
# three rows explained in every format, and the report in a browser. `make newcomer` runs it, and so does CI.
#
#   examples/newcomer.sh [FOLDER]      what is made stays in FOLDER (default: a new temporary one)
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder"
step() { printf '\n== %s\n' "$*"; }

step "Install into a new environment"
"${PYTHON:-python3}" -m venv --clear environment
export PATH="$PWD/environment/bin:$PATH"
pip install --quiet --disable-pip-version-check "$repository[cli,plot]"
countarfactuals --version

step "The demo"
countarfactuals demo

step "A table with text and missing values"
python - <<'END'
from countarfactuals.datasets import load_loan

loan = load_loan(missing=True)
table = loan.X.assign(quality=loan.y)
table[:1500].to_csv("train.csv", index=False)
rejected = table[1500:].query("quality == 'bad'").drop(columns="quality")
rejected.head(20).to_csv("new.csv", index=False)
END
head -n 4 train.csv

step "Learn from it"
countarfactuals fit --data train.csv --outcome quality --model auto --out explainer \
    --unit income=€ --unit duration=months --rows-are applicants

step "Explain three rows under constraints, in every format"
wishes=(--explainer explainer --data new.csv --rows 3,9,17 --want good
    --fix age,education --range amount=500:20000 --direction savings=increase --max-changed 3 --top 3)
for format in table sentences; do
    countarfactuals explain "${wishes[@]}" --format "$format"
done
for suffix in txt md json csv html parquet; do
    countarfactuals explain "${wishes[@]}" --out "counterfactuals.$suffix"
    test -s "counterfactuals.$suffix"
done

step "Measure counterfactuals that come from a file"
countarfactuals evaluate --explainer explainer --data new.csv --counterfactuals counterfactuals.csv --want good

step "Open the report in a browser"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo "no browser is installed: the report was not opened"
    exit 0
fi
quiet=(--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --user-data-dir="$PWD/profile")
"$browser" "${quiet[@]}" --dump-dom "file://$PWD/counterfactuals.html" >page.html 2>browser.log
"$browser" "${quiet[@]}" --window-size=1100,1600 --screenshot="$PWD/page.png" \
    "file://$PWD/counterfactuals.html" 2>>browser.log
grep -q "<h1" page.html
test -s page.png
echo "$PWD/page.png shows it."
