#!/usr/bin/env python3
"""A sample of mutants of the numeric rooms, each of which the unit tests have to catch.

cargo-mutants lists them; instead of building the library anew for each, all of them are put into one build: a
function with mutants becomes a choice among its bodies, by the variable LPF_MUTANT. So sixty mutants take one
build and sixty runs of the tests of the mutated module; what these do not catch meets those of its room, and
then all unit tests.
A mutant that cannot be chosen at run time (in a constant function, or one that does not compile beside the
others) gets a build of its own.

A mutant that does what the original does cannot be caught: equivalent.txt names those that somebody looked at,
with the reason. They are not run, and counted apart.

    tests/mutants/run.py OUTPUT SHARD [ROOM...]     SHARD such as 0/105: about one in 105
"""

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["math", "simplex", "spn", "answer", "audit", "bounds"]
# Given to every file that has mutants: which of them is to be.
CHOICE = """
pub(crate) mod mutant {
    pub(crate) fn chosen() -> u32 {
        static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
        *CHOSEN.get_or_init(|| {
            std::env::var("LPF_MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
        })
    }
}
"""
# A mutant whose tests take so much longer than the tests of the original runs for ever.
PATIENCE = 5


def listed(rooms):
    """All mutants of these rooms, with the line that each changes."""
    command = ["cargo", "mutants", "--list", "--json", "--no-shuffle"]
    for room in rooms:
        command += ["-f", f"src/{room}/**", "-f", f"src/{room}.rs"]
    shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    mutants = json.loads(shown.stdout)
    lines = {name: (ROOT / name).read_text().splitlines() for name in {m["file"] for m in mutants}}
    for mutant in mutants:
        # Without the number of the line, which moves whenever something above does.
        place = mutant["span"]["start"]
        line = lines[mutant["file"]][place["line"] - 1]
        column = place["column"] - (len(line) - len(line.lstrip()))
        change = re.sub(r"^[^:]*:\d+:\d+: ", "", mutant["name"])
        mutant["key"] = (mutant["file"], change, f"{column}: {line.strip()}")
    return mutants


def equivalents(every, rooms):
    """The mutants that are known to do what the original does, with the reasons.

    Paragraphs of the file, the change, the column and the line as it stands in the source, and the reason.
    """
    reasons = {}
    known = {m["key"] for m in every}
    for paragraph in (Path(__file__).parent / "equivalent.txt").read_text().split("\n\n"):
        lines = [line.strip() for line in paragraph.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        key, reason = tuple(lines[:3]), " ".join(lines[3:])
        if not reason or (key not in known and Path(key[0]).parts[1].removesuffix(".rs") in rooms):
            sys.exit(f"equivalent.txt: no mutant of now, or no reason: {lines}")
        reasons[key] = reason
    return reasons


class Text:
    """A file by lines and columns, both counted from one."""

    def __init__(self, path):
        self.text = path.read_text()
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def at(self, place):
        return self.starts[place["line"] - 1] + place["column"] - 1

    def span(self, span):
        return self.at(span["start"]), self.at(span["end"])


def body(text, start, end):
    """Where the body of the function that begins at `start` begins: the first brace outside of brackets."""
    depth, at = 0, start
    while at < end:
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif text[at] in "([":
            depth += 1
        elif text[at] in ")]":
            depth -= 1
        elif text[at] == "{" and depth == 0:
            return at
        at += 1
    raise ValueError(f"no body: {text[start:start + 80]}")


def with_choices(source, mutants):
    """The text of a file with all of these mutants to choose from, and those that had to be left out."""
    functions, apart = {}, []
    for mutant in mutants:
        span = source.span(mutant["function"]["span"]) if mutant["function"] else None
        if span is None:
            apart.append(mutant)
            continue
        functions.setdefault(span, []).append(mutant)
    # A function within a function is chosen with the outer one.
    outer = {}
    for span in sorted(functions, key=lambda s: (s[0], -s[1])):
        around = [o for o in outer if o[0] <= span[0] and span[1] <= o[1]]
        outer.setdefault(around[0] if around else span, []).extend(functions[span])
    text = source.text
    for (start, end), inside in sorted(outer.items(), reverse=True):
        opens = body(text, start, end)
        signature = text[start:opens]
        # Constants are computed before there is a choice; bodies of `impl` types are of different types.
        if re.search(r"\bconst\s+fn\b|->\s*impl\b", signature):
            apart += inside
            continue
        original = text[opens:end]
        arms = ""
        for mutant in inside:
            first, last = source.span(mutant["span"])
            changed = original[: first - opens] + mutant["replacement"] + original[last - opens :]
            if mutant["genre"] == "FnValue" and not changed.startswith("{"):
                changed = "{" + changed + "}"
            arms += f"{mutant['number']} => {changed} "
        chosen = "{ #[allow(unused, clippy::all)] match crate::mutant::chosen() { %s _ => %s } }"
        text = text[:opens] + chosen % (arms, original) + text[end:]
    return text, apart


class Tree:
    """A copy of the sources, which is kept from run to run."""

    def __init__(self, place):
        self.root = place / "tree"
        self.environment = dict(
            os.environ,
            # What is depended on is built once for this tree and ours.
            CARGO_TARGET_DIR=os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")),
            CARGO_PROFILE_TEST_DEBUG="0",
            CARGO_INCREMENTAL="1",
        )
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
        # Tests that the original fails say nothing of a mutant.
        self.failing = set()
        self.files = {}
        for name in filter(None, tracked.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                self.files[name] = (ROOT / name).read_bytes()

    def write(self, changed):
        """All files as they are but for those that are changed; what is the same keeps its time."""
        for name, content in self.files.items():
            content = changed.get(name, content)
            path = self.root / name
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def build(self):
        """The program of the unit tests, or the places of errors."""
        command = ["cargo", "test", "--lib", "--no-run", "--message-format", "json"]
        built = subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True
        )
        program, places = None, []
        for line in built.stdout.splitlines():
            said = json.loads(line) if line.startswith("{") else {}
            if said.get("reason") == "compiler-artifact" and said.get("executable"):
                program = said["executable"]
            message = said.get("message") or {}
            if isinstance(message, dict) and message.get("level") == "error":
                for span in message["spans"]:
                    places.append((span["file_name"], span["byte_start"]))
        if built.returncode == 0 and program:
            return program, []
        if not places:
            sys.exit(built.stderr[-3000:])
        return None, places

    def tests(self, program, number, names, patience=None):
        """The first test that fails, none where all pass, and how many seconds of processor they took.

        Patience is counted in seconds of processor too, so that a busy machine ends nothing; a test that waits
        for ever takes none, and is given an hour.
        """
        environment = dict(self.environment, LPF_MUTANT=str(number), PROPTEST_RNG_SEED="1")
        skipped = [part for test in sorted(self.failing) for part in ("--skip", test)]
        limit = lambda: patience and resource.setrlimit(resource.RLIMIT_CPU, (int(patience), int(patience) + 1))
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        running = subprocess.Popen(
            [program, *names, *skipped],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
        )
        caught = None
        os.set_blocking(running.stdout.fileno(), False)
        rest = ""
        while caught is None:
            rest += (running.stdout.read() or b"").decode(errors="replace")
            lines = rest.split("\n")
            rest = lines.pop()
            failed = [line for line in lines if line.endswith("FAILED") and line.startswith("test ")]
            if failed:
                caught = failed[0].split()[1]
            elif running.poll() is not None:
                ends = {0: "", -signal.SIGXCPU: "no end", -signal.SIGKILL: "no end"}
                caught = ends.get(running.returncode, f"ended with {running.returncode}")
            elif time.monotonic() - start > 3600:
                caught = "no end"
            else:
                time.sleep(0.05)
        running.kill()
        running.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return caught, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    place, shard, *rooms = sys.argv[1:]
    place = Path(place).resolve()
    place.mkdir(parents=True, exist_ok=True)
    rooms = rooms or ROOMS
    every = listed(rooms)
    reasons = equivalents(every, rooms)
    # By what they change and not by their number: what moves or comes new does not change the rest of the sample.
    first, of = map(int, shard.split("/"))
    drawn = lambda m: hashlib.sha256("\n".join(m["key"]).encode()).digest()
    sample = [m for m in every if int.from_bytes(drawn(m)[:8]) % of == first]
    equivalent = [(m, reasons[m["key"]]) for m in sample if m["key"] in reasons]
    mutants = [m for m in sample if m["key"] not in reasons]
    for number, mutant in enumerate(mutants, 1):
        mutant["number"] = number
    tree = Tree(place)
    sources = {name: Text(ROOT / name) for name in {mutant["file"] for mutant in mutants}}
    library = tree.files["src/lib.rs"] + CHOICE.encode()

    # Those that did not compile beside the others are kept, as finding them takes a build.
    kept = place / "apart.json"
    known = json.loads(kept.read_text()) if kept.exists() else []
    apart = [m for m in mutants if list(m["key"]) in known]
    while True:
        changed, marks = {"src/lib.rs": library}, {}
        for name, source in sources.items():
            inside = [m for m in mutants if m["file"] == name and m not in apart]
            text, more = with_choices(source, inside)
            apart += more
            changed[name] = text.encode()
            marks[name] = text.encode()
        tree.write(changed)
        program, places = tree.build()
        if program:
            break
        # Whichever mutants the errors lie in are built by themselves.
        found = set()
        for name, at in places:
            if name not in marks:
                continue
            arms = re.findall(rb"[{ ](\d+) => ", marks[name][:at])
            if arms:
                found.add(int(arms[-1]))
        wrong = [m for m in mutants if m["number"] in found and m not in apart]
        if not wrong:
            sys.exit(f"the original does not build: {places[:3]}")
        apart += wrong
        kept.write_text(json.dumps([m["key"] for m in apart]))
    print(
        f"{len(sample)} of {len(every)} mutants, {len(equivalent)} of them equivalent, "
        f"{len(apart)} built by themselves",
        flush=True,
    )

    usual = {}

    # Kept apart from what is built later: it says which tests the original fails, and how long they take.
    original = shutil.copy(program, place / "original")

    def stages(mutant):
        """The tests of the module, which catch most of what is caught at all; those of the room; all of them."""
        parts = Path(mutant["file"]).with_suffix("").parts[1:]
        module = "::".join(part for part in parts if part != "mod") + "::"
        return list(dict.fromkeys([(module,), (parts[0] + "::",), ()]))

    def caught_by(program, number, names):
        while names not in usual:
            failed, took = tree.tests(original, 0, names)
            if not failed:
                usual[names] = took
            elif "::" not in failed or failed in tree.failing:
                sys.exit(f"the original fails: {failed}")
            else:
                print(f"left out, as the original fails it: {failed}", flush=True)
                tree.failing.add(failed)
        return tree.tests(program, number, names, 60 + PATIENCE * usual[names])[0]

    outcomes = []

    def note(mutant, outcome):
        outcomes.append((mutant, outcome))
        print(f"{outcome or 'MISSED'}: {mutant['name']}", flush=True)

    left = [m for m in mutants if m not in apart]
    for depth in range(3):
        # What is left after the last is missed.
        still = []
        for mutant in left:
            rest = stages(mutant)[depth:]
            caught = rest and caught_by(original, mutant["number"], rest[0])
            if caught or len(rest) <= 1:
                note(mutant, caught or None)
            else:
                still.append(mutant)
        left = still
        print(f"{len(left)} left", *(m["name"] for m in left), sep="\n  ", flush=True)
    for mutant in apart:
        source = sources[mutant["file"]]
        first, last = source.span(mutant["span"])
        text = source.text[:first] + mutant["replacement"] + source.text[last:]
        tree.write({mutant["file"]: text.encode()})
        program, places = tree.build()
        if not program:
            note(mutant, "does not compile")
            continue
        found = (caught_by(program, 0, names) for names in stages(mutant))
        note(mutant, next(filter(None, found), None))

    missed = [m for m, outcome in outcomes if outcome is None]
    unviable = sum(outcome == "does not compile" for _, outcome in outcomes)
    viable = len(mutants) - unviable
    table = ["| mutant | caught by |", "|---|---|"]
    for mutant, outcome in outcomes:
        table.append(f"| {mutant['name'].replace('|', chr(92) + '|')} | {outcome or '**nothing**'} |")
    for mutant, why in equivalent:
        table.append(f"| {mutant['name'].replace('|', chr(92) + '|')} | equivalent: {why} |")
    said = (
        f"{len(sample)} mutants of {len(every)}: {viable - len(missed)} of {viable} caught, "
        f"{len(equivalent)} equivalent, {unviable} do not compile"
    )
    (place / "mutants.md").write_text("\n".join([*table, "", said]) + "\n")
    print(f"{said}; table in {place}/mutants.md")
    sys.exit(bool(missed) and (viable - len(missed)) * 100 < 95 * viable)


if __name__ == "__main__":
    main()
