#!/usr/bin/env bash
# Reports of pretend runs in a real browser: writes them, opens them headless, checks what a reader would stumble over.
# SHOTS=DIR keeps pictures of the pages. Without Chromium it says so and fails; Debian: apt-get install chromium.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
browser=${CHROMIUM:-chromium}
command -v "$browser" >/dev/null || { echo "report: please install $browser" >&2; exit 1; }
pages=$(mktemp -d)
trap 'rm -r "$pages"' EXIT
# shellcheck disable=SC2086 # more than one word is meant
cargo run --locked --quiet ${CARGO_PROFILE---release} -p basalt-stress --example report -- "$pages" >/dev/null
tests/report/check.py --self-test
tests/report/check.py ${SHOTS:+--shots "$SHOTS"} "$pages"/*.html
