#!/usr/bin/env bash
# Reports of pretend runs in a real browser: writes them, opens them headless, checks what a reader would stumble over.
# SHOTS=DIR keeps pictures of the pages. CHROMIUM names the browser (Debian: apt-get install chromium); without one this
# is skipped, or fails with BASALT_REQUIRE_DRIVERS=1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
browser=${CHROMIUM:-chromium}
if ! command -v "$browser" >/dev/null; then
  echo "report: no $browser, skipped"
  exit "${BASALT_REQUIRE_DRIVERS:-0}"
fi
pages=$(mktemp -d)
trap 'rm -r "$pages"' EXIT
cargo run --locked --quiet --release -p basalt-stress --example report -- "$pages" >/dev/null
tests/report/check.py --self-test
tests/report/check.py ${SHOTS:+--shots "$SHOTS"} "$pages"/*.html
