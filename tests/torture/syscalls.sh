#!/usr/bin/env bash
# Every system call by which a command writes is refused in turn, and then the process is killed at it.
# Whatever happens, a file is the old one or the new one, whole; a refusal ends with exit code 0, 1 or 2 and
# leaves nothing half-written; and the next run leaves nothing but the new file. Needs strace.
#
#   tests/torture/syscalls.sh target/release/lpf [WORD]     only the commands with this word
set -euo pipefail
lpf=$(realpath "${1:?which lpf?}")
only=${2-}
command -v strace >/dev/null || { echo 'strace is missing (apt-get install strace)'; exit 2; }
fail() { echo "FAILED: $*"; exit 1; }
# The page of `verify` says when it was made.
export SOURCE_DATE_EPOCH=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for _ in $(seq 2000); do echo '{"entity":"a","evidence":[{"factor":[0.75,0.25]}]}'; done > a.jsonl
for i in $(seq 200); do echo "{\"entity\":\"e$i\",\"label\":$((i % 4 == 0)),\"probs\":[0.75,0.25]}"; done > log.jsonl
for i in $(seq 200); do echo "$((i % 4 == 0)),0.75,0.25"; done | (echo label,p_0,p_1; cat) > log.csv
"$lpf" calibrate log.jsonl --method temperature --output map > /dev/null
sed 's/"e/"f/' log.jsonl > other.jsonl
"$lpf" audit log.jsonl --partial part > /dev/null
"$lpf" audit other.jsonl --partial more > /dev/null
"$lpf" monitor log.jsonl --state watch > /dev/null

tried=0 refused=0 killed=0 commands=0
# So many calls of a kind are attacked wherever they go, beside those on the output and the streams.
EVERYWHERE=4

# Whether `out`, a file or a folder, has nothing but what it had and what it is to have.
whole_or_old() {
  [ -e out ] || [ -L out ] || { [ ! -e old ]; return; }
  if [ -d whole ]; then
    local file
    while read -r file; do
      cmp -s "out/$file" "whole/$file" || return 1
    done < <(cd out && find . -type f ! -name '.*.lpf-*')
  else
    cmp -s out whole || cmp -s out old
  fi
}

left() { find . -name '.*.lpf-*' | head -3; }

begin() { rm -rf out; [ ! -e old ] || cp old out; }

# The calls by which files come and go.
calls=openat,write,fsync,rename,flock,mkdir,fchmod
# How many of each the command makes, in the thread that makes the most of them: each thread counts its own.
counted() {
  begin
  strace -f -qq -o trace "$@" -e "trace=$calls" "$lpf" $command > shown 2> said || true
  grep -oE "^[0-9]+ +(${calls//,/|})\(" trace | sort | uniq -c |
    awk '{ sub(/\(/, "", $3); if ($1 > most[$3]) most[$3] = $1 } END { for (c in most) print c, most[c] }'
}

# At most $2 of the numbers from 1 to $1: all of them, or the first, the last, and others evenly between.
spread() {
  awk -v n="$1" -v most="$2" 'BEGIN {
    if (n <= most) most = n
    for (i = 0; i < most; i++) print most == 1 ? 1 : 1 + int(i * (n - 1) / (most - 1))
  }'
}

# Which calls of $fault's kind to attack, of those counted in a file.
of() { spread "$(awk -v call="${fault%%:*}" '$1 == call { n = $2 } END { print n + 0 }' "$1")" "$2"; }

# attack FAULT WHEN FILTER...: one run, and where it was killed another one after it.
attack() {
  local fault=$1 when=$2 code=0
  local call=${fault%%:*} what=${fault#*:}
  begin
  { strace -f -qq -o trace "${@:3}" -e "trace=$call" -e "inject=$call:$what:when=$when" \
      "$lpf" $command > shown 2> said || code=$?; } 2> /dev/null
  # A call that this run does not reach.
  grep -qE 'INJECTED|killed by SIGKILL' trace || return 0
  tried=$((tried + 1))
  whole_or_old || fail "$command: $fault at $when tore the output"
  case "$what:$code" in
    signal=KILL:137) killed=$((killed + 1)) ;;
    # Before our first line the loader of the system is refused its libraries.
    error=*:[012] | error=*:127) refused=$((refused + 1))
      [ -z "$(left)" ] || fail "$command: $fault at $when left $(left)"
      [ ! -d out ] || [ -n "$(ls -A out)" ] || fail "$command: $fault at $when left an empty folder"
      ! grep -q panicked said || fail "$command: $fault at $when: $(cat said)"
      case "$code:$(grep INJECTED trace)" in
        [01]:*'write(1,'* | [01]:*rename\(*) fail "$command: $fault at $when is not said: exit code $code" ;;
      esac
      # Rows that a run with exit code 2 has seen are not yet in the state, but where only the folder
      # could not be brought to the disk.
      case "$command:$code:$(grep INJECTED trace)" in
        *--state*:2:*'openat(AT_FDCWD, ".",'* | *--state*:2:*fsync*) ;;
        *--state*:2:*) cmp -s out old || fail "$command: $fault at $when changed the state" ;;
      esac ;;
    *) fail "$command: $fault at $when ended with $code: $(cat said)" ;;
  esac
  if [ "$what" = signal=KILL ] || [ "$((when % 8))" = 0 ]; then
    # From the old file, as the state of a monitor counts rows; what was left of a killed process stays, and
    # so does a folder with what was written into it.
    [ -d whole ] || begin
    "$lpf" $command > /dev/null 2>&1 || [ $? = 1 ]
    [ ! -e whole ] || diff -r out whole > /dev/null || fail "$command: after $fault at $when the next run differs"
    [ -z "$(left)" ] || fail "$command: after $fault at $when the next run left $(left)"
  fi
}

# torture OLD MOST COMMAND: with a copy of OLD as `out`, which need not be there. Each kind of refusal at every
# call on the output and the streams, or where there are more than MOST at so many, spread evenly; and then at
# EVERYWHERE of all calls, wherever they go. `all` for MOST: every call of the process.
torture() {
  local old=$1 most=$2 command=$3 code fault when paths=() name
  case $command in *"$only"*) ;; *) return 0 ;; esac
  commands=$((commands + 1))
  rm -rf old whole out; [ "$old" = none ] || cp "$old" old
  begin
  code=0; "$lpf" $command > /dev/null 2> said || code=$?
  [ "$code" -le 1 ] || fail "$command does not run: $(cat said)"
  [ ! -e out ] || mv out whole
  for name in out shown said . $([ ! -d whole ] || (cd whole && find . -type f -printf 'out/%f\n')); do
    paths+=(-P "$name" -P "$PWD/$name")
    name=$(dirname "$name")/.$(basename "$name").lpf-0.tmp; name=${name#./}
    paths+=(-P "$name" -P "$PWD/$name")
  done
  [ "$most" = all ] || counted "${paths[@]}" > near
  counted > far
  for fault in openat:error=EACCES openat:error=EMFILE write:error=ENOSPC write:error=EIO fsync:error=EIO \
    rename:error=EIO rename:error=EXDEV flock:error=ENOLCK mkdir:error=ENOSPC fchmod:error=EPERM \
    openat:signal=KILL write:signal=KILL fsync:signal=KILL rename:signal=KILL flock:signal=KILL; do
    if [ "$most" = all ]; then
      for when in $(of far 400); do attack "$fault" "$when"; done
    else
      for when in $(of near "$most"); do attack "$fault" "$when" "${paths[@]}"; done
      for when in $(of far "$EVERYWHERE"); do attack "$fault" "$when"; done
    fi
  done
  echo "$command: $tried tried so far"
}

printf old > before
torture before all 'infer a.jsonl --threads 1 --output out'
torture before all 'audit log.jsonl --threads 1 --output out'
for format in json markdown junit sarif html; do
  torture before 20 "audit log.jsonl --threads 1 --format $format --output out"
done
torture before all 'audit log.jsonl --threads 1 --partial out'
torture part 20 'audit --merge out more --threads 1 --partial out'
torture before 20 'calibrate log.jsonl --threads 1 --method auto --output out'
torture before 20 'calibrate log.csv --threads 1 --method isotonic --output out'
torture before 20 'apply log.jsonl --threads 1 --calibration map --output out'
torture before 20 'apply log.csv --threads 1 --calibration map --output out'
torture none 20 'apply log.csv --threads 1 --calibration map'
torture watch 20 'monitor log.jsonl --state out'
torture watch 20 'monitor log.jsonl --state out --html /dev/null'
torture before 20 'monitor log.jsonl --html out'
torture before 20 'train --entities 20 --epochs 1 --output out'
torture before 20 'generate --entities 20 --output out'
torture before 20 'generate phishing --output out'
torture before 20 'claims L2 --output out'
torture none 20 'claims'
torture none 20 'bound t3-prime --n 900 --errors 42'
torture none 20 'limits'
torture none 20 'completions bash'
torture none 20 'man audit'
torture none 20 'help'
torture before 20 'experiment T1 --entities 20 --epochs 1 --trials 1 --output out'
torture none 20 'experiment T1 --entities 20 --epochs 1 --trials 1 --format html --output out/'
# Six seconds each, so fewer.
EVERYWHERE=1
torture none 2 'verify --skip-experiments --output out'
[ "$commands" -gt 0 ] || fail "no command has the word $only"
echo "torture: $commands commands, $tried system calls: $refused refused, $killed killed; nothing torn, nothing left"
