#!/usr/bin/env bash
# Counts what a request costs the server, in instructions and allocations, and compares it with bounds.txt.
#
#   run.sh [--update] [--profile DIR] [CASE...]     what they are stands in count.py
#
# BASALT_BIN names the program (default: target/release/basalt). Needs valgrind, whose callgrind counts: without it this is
# skipped, or fails with BASALT_REQUIRE_DRIVERS=1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export BASALT_BIN=${BASALT_BIN:-$(cd "$here/../.." && pwd)/target/release/basalt}
[ -x "$BASALT_BIN" ] || { echo "$BASALT_BIN is not there: make build" >&2; exit 1; }
if ! command -v valgrind >/dev/null || ! command -v python3 >/dev/null; then
  echo "instructions: no valgrind or no python3, skipped: what a request costs is not checked here"
  exit "${BASALT_REQUIRE_DRIVERS:-0}"
fi
exec python3 "$here/count.py" "$@"
