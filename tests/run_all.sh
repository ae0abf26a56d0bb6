#!/usr/bin/env bash
# Every stage of `make test`, cheapest first; the first that fails ends the run. `make test-all` adds what
# is marked slow.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
stage() { # stage name command...
  local name=$1 begin=$SECONDS; shift
  printf '\n== %s\n' "$name"
  "$@" || { printf '== %s failed after %ss\n' "$name" $((SECONDS - begin)); exit 1; }
  printf '== %s: %ss\n' "$name" $((SECONDS - begin))
}
stage lint make --no-print-directory lint
stage imports make --no-print-directory imports
stage types make --no-print-directory types
stage frontend make --no-print-directory test-frontend
stage unit make --no-print-directory test-unit
stage postgres make --no-print-directory test-postgres
stage integration make --no-print-directory test-integration
stage faults make --no-print-directory test-faults-quick
stage e2e make --no-print-directory test-e2e-quick
printf '\nAll stages passed in %ss\n' $((SECONDS - started))
