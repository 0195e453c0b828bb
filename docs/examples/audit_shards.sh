#!/bin/sh
# Audits the parts of a log in parallel processes, then merges them into one report.
#
#   LPF=target/release/lpf docs/examples/audit_shards.sh part-*.jsonl
#
# The report is, byte for byte, that of `lpf audit part-*.jsonl`: only the work is spread. On a
# cluster each line of the middle step runs where its part is, and the small state files travel.
set -eu
lpf=${LPF:-lpf}
states=$(mktemp -d)
trap 'rm -rf "$states"' EXIT

printf '%s\0' "$@" |
  xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" \
    sh -c '"$0" audit "$2" --partial "$1/$(basename "$2").state"' "$lpf" "$states"

# Not in the last place of a pipe, so that its exit code (0, 1 or 2) is ours.
"$lpf" audit --merge "$states"/*.state ${AUDIT_OPTIONS:-}
