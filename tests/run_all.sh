#!/usr/bin/env bash
# Every stage of `make test`, cheapest first; the first that fails ends the run. `make test-all` adds what
# is marked slow.
set -euo pipefail
cd "$(dirname "$0")/.."
# Hypothesis takes the same examples each time then: a change is not refused for what another run finds.
# The stages by themselves, `make simulate` and `make fuzz` look for new ones.
export CI=${CI:-true}
started=$SECONDS
stage() { # stage name command...
  local name=$1 begin=$SECONDS; shift
  printf '\n== %s\n' "$name"
  # A stage that hangs is named, long before whoever runs this gives up. Ctrl-C still reaches it.
  timeout --foreground --kill-after=60 "${STAGE_TIMEOUT_S:-1800}" "$@" || { printf '== %s failed after %ss\n' "$name" $((SECONDS - begin)); exit 1; }
  printf '== %s: %ss\n' "$name" $((SECONDS - begin))
}
stage lint make --no-print-directory lint
stage imports make --no-print-directory imports
stage types make --no-print-directory types
stage frontend make --no-print-directory test-frontend
stage unit make --no-print-directory test-unit
stage postgres make --no-print-directory test-postgres
stage integration make --no-print-directory test-integration
# Killed brokers are mostly waited for, and so is a browser: these two run side by side.
faults_output=$(mktemp)
(stage faults make --no-print-directory test-faults-quick) >"$faults_output" 2>&1 &
faults=$!
failed=0
(stage e2e make --no-print-directory test-e2e-quick) || failed=1
wait "$faults" || failed=1
cat "$faults_output"
rm -f "$faults_output"
[ "$failed" = 0 ] || exit 1
printf '\nAll stages passed in %ss\n' $((SECONDS - started))
