#!/bin/bash
# Records from a fresh stock node everything that needs a running one; leaves no node running.
#   record.sh            schema (system tables, descriptions, digests) and all of tests/cql
#   record.sh cql [FILE...]   only tests/cql, or only the files named
set -euo pipefail
cd "$(dirname "$0")"
. ./jars.sh
export ORACLE_ADDRESS
golden=../tests/golden
if [ "${1:-}" != cql ]; then
  ./cassandra.sh wipe
  ./cassandra.sh start
  python3 schema.py "$ORACLE_ADDRESS" $golden/schema "$ORACLE_RUN/data"
  ./cassandra.sh stop
  ./cassandra.sh dump $golden/schema_digest_empty.txt
  ./cassandra.sh start
  python3 ddl.py "$ORACLE_ADDRESS" ddl.cql $golden/schema_ddl.txt
  ./cassandra.sh stop
  ./cassandra.sh dump $golden/schema_digest_user.txt
  ./cassandra.sh start
  python3 describe.py "$ORACLE_ADDRESS" describe.cql $golden/schema/describe_user.txt
  ./cassandra.sh stop
else
  shift
fi
trap './cassandra.sh stop' EXIT
if [ $# -eq 0 ]; then set -- ../tests/cql/*.cqltest; fi
plain=()
for file in "$@"; do
  settings=$(sed -n 's/^@setting \([^ ]*\) \(.*\)/-Dcassandra.settings.\1=\2/p' "$file" | tr '\n' ' ')
  if [ -z "$settings" ]; then plain+=("$file"); continue; fi
  ./cassandra.sh stop
  ORACLE_JVM_OPTIONS="${ORACLE_JVM_OPTIONS:-} -Dcassandra.config.allow_system_properties=true $settings" ./cassandra.sh start
  python3 record.py "$ORACLE_ADDRESS" "$file"
  ./cassandra.sh wipe # what one mode of storage writes another does not read
done
if [ ${#plain[@]} -gt 0 ]; then
  ./cassandra.sh start
  python3 record.py "$ORACLE_ADDRESS" "${plain[@]}"
fi
