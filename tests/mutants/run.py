#!/usr/bin/env python3
"""A sample of mutants of the numeric rooms, each of which the unit tests have to catch.

cargo-mutants lists them; instead of building the library anew for each, all of them are put into one build: a
function with mutants becomes a choice among its bodies, by the variable LPF_MUTANT. So sixty mutants take one
build and sixty runs of the tests of the mutated room; only what these do not catch meets all unit tests.
A mutant that cannot be chosen at run time (in a constant function, or one that does not compile beside the
others) gets a build of its own.

    tests/mutants/run.py OUTPUT SHARD [ROOM...]
"""

import json
import os
import re
import shutil
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


def listed(shard, rooms):
    command = ["cargo", "mutants", "--list", "--json", "--no-shuffle", "--shard", shard]
    command += ["--sharding", "round-robin"]
    for room in rooms:
        command += ["-f", f"src/{room}/**", "-f", f"src/{room}.rs"]
    shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(shown.stdout)


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
    """A copy of the sources, with a target of its own that is kept from run to run."""

    def __init__(self, place):
        self.root = place / "tree"
        self.environment = dict(
            os.environ,
            CARGO_TARGET_DIR=str(place / "target"),
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
        """Whether the tests pass, and how long they took; they are ended at the first that fails."""
        environment = dict(self.environment, LPF_MUTANT=str(number), PROPTEST_RNG_SEED="1")
        start = time.monotonic()
        skipped = [part for test in sorted(self.failing) for part in ("--skip", test)]
        running = subprocess.Popen(
            [program, *names, *skipped],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if patience:
            guard = subprocess.Popen(["sleep", str(int(patience))])
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
                caught = "" if running.returncode == 0 else f"ended with {running.returncode}"
            elif patience and guard.poll() is not None:
                caught = "no end"
            else:
                time.sleep(0.05)
        running.kill()
        running.wait()
        if patience:
            guard.kill()
            guard.wait()
        return caught, time.monotonic() - start


def main():
    place, shard, *rooms = sys.argv[1:]
    place = Path(place).resolve()
    place.mkdir(parents=True, exist_ok=True)
    mutants = listed(shard, rooms or ROOMS)
    for number, mutant in enumerate(mutants, 1):
        mutant["number"] = number
    tree = Tree(place)
    sources = {name: Text(ROOT / name) for name in {mutant["file"] for mutant in mutants}}
    library = tree.files["src/lib.rs"] + CHOICE.encode()

    apart = []
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
    room_of = lambda mutant: Path(mutant["file"]).parts[1].removesuffix(".rs")
    print(f"{len(mutants)} mutants, {len(apart)} of them built by themselves", flush=True)

    usual = {}

    def try_one(program, number, mutant):
        room = room_of(mutant) + "::"
        for names in ([room], []):
            key = room if names else "all"
            while key not in usual:
                failed, took = tree.tests(program, 0, names)
                if not failed:
                    usual[key] = took
                elif "::" not in failed or failed in tree.failing:
                    sys.exit(f"the original fails: {failed}")
                else:
                    print(f"left out, as the original fails it: {failed}", flush=True)
                    tree.failing.add(failed)
            caught, took = tree.tests(program, number, names, 60 + PATIENCE * usual[key])
            if caught:
                return caught
        return None

    outcomes = []

    def note(mutant, outcome):
        outcomes.append((mutant, outcome))
        print(f"{outcome or 'MISSED'}: {mutant['name']}", flush=True)

    for mutant in mutants:
        if mutant not in apart:
            note(mutant, try_one(program, mutant["number"], mutant))
    for mutant in apart:
        source = sources[mutant["file"]]
        first, last = source.span(mutant["span"])
        text = source.text[:first] + mutant["replacement"] + source.text[last:]
        tree.write({mutant["file"]: text.encode()})
        program, places = tree.build()
        note(mutant, try_one(program, 0, mutant) if program else "does not compile")

    missed = [m for m, outcome in outcomes if outcome is None]
    unviable = sum(outcome == "does not compile" for _, outcome in outcomes)
    viable = len(mutants) - unviable
    table = ["| mutant | caught by |", "|---|---|"]
    for mutant, outcome in outcomes:
        table.append(f"| {mutant['name'].replace('|', chr(92) + '|')} | {outcome or '**nothing**'} |")
    (place / "mutants.md").write_text("\n".join(table) + "\n")
    print(f"{viable - len(missed)} of {viable} caught, {unviable} do not compile; table in {place}/mutants.md")
    sys.exit(bool(missed) and (viable - len(missed)) * 100 < 95 * viable)


if __name__ == "__main__":
    main()
