#!/bin/bash
# Random schemas and statements on a stock Cassandra and on Basalt; every answer compared (differential/).
#   differential.sh [--seconds N] [--seeds A-B] [--minimise]   further options: differential.sh --help
# --minimise shrinks what differed and leaves it as tests/cql/found_SEED.cqltest, recorded.
# Ends with a line of counts; the exit code is 0 when nothing differed. BASALT_BIN is the program (target/release/basalt).
# Cassandra runs on ORACLE_ADDRESS (127.0.0.10) with data of its own; one that is up already is used and left up.
set -euo pipefail
cd "$(dirname "$0")"
export ORACLE_ADDRESS=${ORACLE_ADDRESS:-127.0.0.10}
# Schema changes without a flush and no snapshots of dropped tables: neither can be told by CQL, both take most of the time.
# The prepared statements of some fifty seeds fit: one evicted between PREPARE and EXECUTE would be a difference.
export ORACLE_JVM_OPTIONS="${ORACLE_JVM_OPTIONS:-} -Dcassandra.unsafesystem=true -Dcassandra.config.allow_system_properties=true \
  -Dcassandra.settings.auto_snapshot=false -Dcassandra.settings.prepared_statements_cache_size=256MiB"
case " $* " in *" --help "* | *" --print "*) exec python3 -m differential "$@" "$ORACLE_ADDRESS" ;; esac
if [ "$(./cassandra.sh status)" = down ]; then
  trap './cassandra.sh wipe' EXIT
  ./cassandra.sh start
fi
python3 -m differential "$ORACLE_ADDRESS" "$@"
