"""Mutation testing, module by module: ``python -m mutants.modules``.

A sample of the mutants of each module, the same in every run, is given to the tests
that run the mutated line. ``--all`` takes every mutant.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import json
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import attrs

from . import in_place, machine
from .generate import Generated, mutants_of
from .machine import PACKAGE, SOURCE, Verdict
from .measure import Measured, measure

MODULES: Final = (
    *("_query/rules.py", "_query/values.py", "_query/filters.py", "_query/periods.py"),
    *("_query/validation.py", "_query/requested.py"),
    *("_protocol/requests.py", "_protocol/responses.py", "_protocol/converter.py"),
    *("_protocol/consistency.py", "_protocol/failures.py", "_protocol/retry.py"),
    *("_transport/pool.py", "_client/get_many.py", "_client/schedule.py"),
    "provisioning/*.py",
    *("emulator/_parameters.py", "emulator/_periods.py", "emulator/_aggregate.py"),
)
SAMPLE: Final = 60
EQUIVALENT: Final = Path(__file__).with_name("equivalent.toml")
KILLED: Final = frozenset((Verdict.KILLED, Verdict.TIMED_OUT))


@attrs.frozen
class _Mutant(machine.Mutant):
    """One for the machine, at a place instead of around a text."""

    generated: Generated = attrs.field(kw_only=True)

    def sources(self) -> dict[str, str]:
        """The new text of its module."""
        path = SOURCE / PACKAGE / self.generated.module
        return {self.generated.module: self.generated.apply(path.read_bytes()).decode()}


def modules(patterns: Iterable[str]) -> list[str]:
    """The modules that *patterns* name, below ``src/sitestats``."""
    root = SOURCE / PACKAGE
    every = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    return [
        module
        for pattern in patterns
        for module in every
        if fnmatch.fnmatch(module, pattern) and not module.endswith("__init__.py")
    ]


def equivalents() -> dict[tuple[str, str], str]:
    """The reason why each mutant of the list can't be noticed, by module and key."""
    listed = tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]
    return {
        (one["module"], mutant): one["because"]
        for one in listed
        for mutant in one["mutants"]
    }


def sample(module: str, size: int | None) -> list[Generated]:
    """*size* mutants of *module*, in its order; all for None."""
    mutants = mutants_of(module, (SOURCE / PACKAGE / module).read_bytes())
    chosen = sorted(mutants, key=lambda one: one.rank)[:size]
    return sorted(chosen, key=lambda one: (one.span, one.key))


def judge(
    mutants: list[Generated], measured: Measured, quick: bool
) -> dict[Generated, Verdict]:
    """What became of each of the *mutants*."""
    contexts = {
        module: measured.contexts(module) for module in {one.module for one in mutants}
    }
    rounds = {one: measured.rounds(one, contexts[one.module]) for one in mutants}
    verdicts = dict.fromkeys(mutants, Verdict.SURVIVED)
    jobs = [
        in_place.Job(one, (*first, *others), measured.total((*first, *others)))
        for one, (first, others) in rounds.items()
        if one.function is not None and first
    ]
    start = time.monotonic()
    for job, failed in in_place.run(jobs):
        if failed:
            killed = Verdict.TIMED_OUT if failed == "time" else Verdict.KILLED
            verdicts[job.mutant] = killed
        print(_line(verdicts[job.mutant], start, job.mutant, failed), flush=True)
        start = time.monotonic()
    for number in range(2):
        left = [
            _Mutant(one.key, (), tuple(tests), measured.total(tests), generated=one)
            for one in mutants
            if verdicts[one] == Verdict.SURVIVED
            and (tests := rounds[one][number])
            # Those have been run, but for what happens on import.
            and (one.function is None or (number == 0 and not quick))
        ]
        for result in machine.run(left):
            assert isinstance(result.mutant, _Mutant)
            one, verdict = result.mutant.generated, result.verdict
            # What can't be imported is noticed by everybody.
            uncollected = verdict == Verdict.UNCOLLECTED
            verdicts[one] = Verdict.KILLED if uncollected else verdict
            start = time.monotonic() - result.seconds
            print(_line(verdicts[one], start, one, result.reason), flush=True)
    return verdicts


def _line(verdict: Verdict, start: float, mutant: Generated, reason: str) -> str:
    seconds = time.monotonic() - start
    return (
        f"{verdict:9} {seconds:5.1f} s  {mutant.module}:{mutant.line} {mutant.key}  "
        f"{reason[:200]}"
    )


def difference(mutant: Generated) -> str:
    """The change as a diff."""
    path = SOURCE / PACKAGE / mutant.module
    source = path.read_bytes()
    lines = difflib.unified_diff(
        source.decode().splitlines(),
        mutant.apply(source).decode().splitlines(),
        n=0,
        lineterm="",
    )
    return "\n".join([*lines][3:])


def main() -> int:
    """Judge the mutants; the exit code is 1 when one survived."""
    parser = argparse.ArgumentParser(
        prog="python -m mutants.modules", description=__doc__
    )
    parser.add_argument("patterns", nargs="*", default=MODULES, metavar="module")
    parser.add_argument("--sample", type=int, default=SAMPLE, metavar="N")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--key", default="", help="only those with this in their key")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--resume", action="store_true", help="skip what was killed")
    parser.add_argument("--measure", action="store_true", help="measure the tests anew")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(tempfile.gettempdir(), "sitestats-measured"),
        help="where measurements and results are kept",
    )
    options = parser.parse_args()
    measured = Measured(options.folder)
    if options.measure or not (options.folder / "seconds.json").exists():
        measure(options.folder)
    reasons = equivalents()
    size = None if options.all or options.key else options.sample
    kept = options.folder / "verdicts.json"
    known = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    named = modules(options.patterns)
    mutants = [one for module in named for one in sample(module, size)]
    judged = [
        one
        for one in mutants
        if options.key in one.key
        and (one.module, one.key) not in reasons
        and not (options.resume and known.get(f"{one.module} {one.key}") in KILLED)
    ]
    print(len(mutants), "mutants,", len(judged), "to judge", flush=True)
    for one, verdict in judge(judged, measured, options.quick).items():
        known[f"{one.module} {one.key}"] = verdict
        if verdict not in KILLED:
            print(f"\n{one.module}:{one.line} {verdict}\n{one.key}\n{difference(one)}")
    kept.write_text(json.dumps(known, indent=1), "utf-8")
    survived = 0
    for module in named:
        counts = Counter(
            "equivalent"
            if (module, one.key) in reasons
            else known.get(f"{module} {one.key}", "not run")
            for one in mutants
            if one.module == module
        )
        print(f"{module}: {counts.total()} mutants, {dict(counts)}", flush=True)
        survived += counts["survived"]
    return min(survived, 1)


if __name__ == "__main__":
    sys.exit(main())
