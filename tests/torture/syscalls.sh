#!/usr/bin/env bash
# Every system call by which a command writes is refused in turn, and then the process is killed at it.
# Whatever happens, the output is the old file or the new one, whole; a refusal ends with exit code 0 or
# 2; and the next run leaves nothing but the new file. Needs strace.
#
#   tests/torture/syscalls.sh target/debug/lpf
set -euo pipefail
lpf=$(realpath "${1:?which lpf?}")
command -v strace >/dev/null || { echo 'strace is missing (apt-get install strace)'; exit 2; }
fail() { echo "FAILED: $*"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for _ in $(seq 2000); do echo '{"entity":"a","evidence":[{"factor":[0.75,0.25]}]}'; done > a.jsonl
for i in $(seq 200); do echo "{\"entity\":\"e$i\",\"label\":$((i % 4 == 0)),\"probs\":[0.75,0.25]}"; done > log.jsonl
"$lpf" calibrate log.jsonl --method temperature --output map > /dev/null

commands=(
  'infer a.jsonl --threads 1 --output out'
  'audit log.jsonl --threads 1 --output out'
  'audit log.jsonl --threads 1 --partial out'
  'calibrate log.jsonl --threads 1 --method isotonic --output out'
  'generate --entities 20 --output out'
  'train --entities 20 --epochs 1 --output out'
  'apply log.jsonl --threads 1 --calibration map --output out'
  'monitor log.jsonl --html out'
  'claims L2 --output out'
)
# The calls by which files come and go, and what each may be refused with.
faults=(openat:error=EACCES write:error=ENOSPC write:error=EIO fsync:error=EIO rename:error=EIO flock:error=ENOLCK
        openat:signal=KILL write:signal=KILL fsync:signal=KILL rename:signal=KILL flock:signal=KILL)
printf old > old
tried=0 refused=0 killed=0
for command in "${commands[@]}"; do
  rm -f out .out.*
  "$lpf" $command > /dev/null || fail "$command does not run"
  cp out whole
  for fault in "${faults[@]}"; do
    call=${fault%%:*} what=${fault#*:}
    for when in $(seq 400); do
      cp old out
      code=0
      { strace -f -qq -o trace -e "trace=$call" -e "inject=$call:$what:when=$when" "$lpf" $command \
          > shown 2> said || code=$?; } 2> /dev/null
      # A call that was never reached: nothing more to try.
      grep -qE 'INJECTED|killed by SIGKILL' trace || break
      tried=$((tried + 1))
      { cmp -s out old || cmp -s out whole; } || fail "$command: $fault at $when tore the file"
      case "$what:$code" in
        signal=KILL:137) killed=$((killed + 1)) ;;
        # Before our first line the loader of the system is refused its libraries.
        error=*:0 | error=*:2 | error=*:127) refused=$((refused + 1))
          [ -z "$(find . -name '.out.*')" ] || fail "$command: $fault at $when left $(find . -name '.out.*')"
          grep -q panicked said && fail "$command: $fault at $when: $(cat said)" ;;
        *) fail "$command: $fault at $when ended with $code: $(cat said)" ;;
      esac
      rm -f out
      if [ "$what" = signal=KILL ] || [ "$((when % 8))" = 0 ]; then
        "$lpf" $command > /dev/null
        cmp -s out whole || fail "$command: after $fault at $when the next run differs"
        [ -z "$(find . -name '.out.*')" ] || fail "$command: after $fault at $when the next run left something"
      fi
    done
  done
  echo "$command: $tried tried so far"
done
echo "torture: $tried system calls: $refused refused, $killed killed; nothing torn, nothing left"
