"""Mutation testing module by module: ``python -m mutants modules``.

A sample of the mutants of each module, the same in every run, is given to the tests
that run the mutated lines. ``--all`` takes every mutant.
"""

from __future__ import annotations

import argparse
import difflib
import json
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs

from reliability_tables import as_table, write_block

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
    *("provisioning/_[!alr]*.py", "provisioning/_re*.py"),
    *("emulator/_parameters.py", "emulator/_periods.py", "emulator/_aggregate.py"),
)
SAMPLE: Final = 25
"""How many mutants of each module are tried."""
LISTED: Final = Path(__file__).with_name("survivors.toml")
EQUIVALENT: Final = "equivalent"
KILLED: Final = frozenset((Verdict.KILLED, Verdict.TIMED_OUT))


@attrs.frozen
class _Mutant(machine.Mutant):
    """One for the machine, at a place instead of around a text."""

    generated: Generated = attrs.field(kw_only=True)

    def sources(self) -> dict[str, str]:
        """The new text of its module."""
        text = self.generated.apply(source_of(self.generated.module)).decode()
        return {self.generated.module: text}


@attrs.frozen
class Listed:
    """Why mutants survive."""

    module: str
    mutants: tuple[str, ...]
    """Their keys."""
    because: str
    equivalent: bool = True
    """Whether no test can notice them; otherwise they count as survivors."""


def source_of(module: str) -> bytes:
    """The source of *module*, a path below ``src/sitestats``."""
    return (SOURCE / PACKAGE / module).read_bytes()


def modules(patterns: Iterable[str]) -> list[str]:
    """The modules that *patterns* name."""
    root = SOURCE / PACKAGE
    return [
        path.relative_to(root).as_posix()
        for pattern in patterns
        for path in sorted(root.glob(pattern))
        if path.name != "__init__.py"
    ]


def listed() -> list[Listed]:
    """What is known of mutants that survive."""
    entries = tomllib.loads(LISTED.read_text("utf-8"))["mutant"]
    return [Listed(**{**one, "mutants": tuple(one["mutants"])}) for one in entries]


def sample(module: str, size: int | None) -> list[Generated]:
    """*size* mutants of *module* in its order, or all."""
    chosen = sorted(mutants_of(module, source_of(module)), key=lambda one: one.rank)
    return sorted(chosen[:size], key=lambda one: (one.span, one.key))


def judge(mutants: Sequence[Generated], measured: Measured) -> dict[Generated, Verdict]:
    """What became of each of the *mutants*."""
    names = {one.module for one in mutants}
    contexts = {module: measured.contexts(module) for module in names}
    rounds = {one: measured.rounds(one, contexts[one.module]) for one in mutants}
    verdicts = dict.fromkeys(mutants, Verdict.SURVIVED)
    jobs = [
        in_place.Job(one, chosen, measured.total(chosen))
        for one, (first, others) in rounds.items()
        if one.function is not None and (chosen := (*first, *others))
    ]
    start = time.monotonic()
    for job, failed in in_place.run(jobs, measured.seconds.keys()):
        if failed:
            is_late = failed == in_place.TIMED_OUT
            verdicts[job.mutant] = Verdict.TIMED_OUT if is_late else Verdict.KILLED
        _print(job.mutant, verdicts[job.mutant], time.monotonic() - start, failed)
        start = time.monotonic()
    for number in range(2):
        left = [
            _Mutant(one.key, (), tuple(tests), measured.total(tests), generated=one)
            for one in mutants
            # The others of a function's tests were run, but for what it does on import.
            if verdicts[one] == Verdict.SURVIVED
            and (one.function is None or not number)
            if (tests := rounds[one][number])
        ]
        for result in machine.run(left):
            assert isinstance(result.mutant, _Mutant)
            one = result.mutant.generated
            # What can't be imported is noticed by everybody.
            uncollected = result.verdict == Verdict.UNCOLLECTED
            verdicts[one] = Verdict.KILLED if uncollected else result.verdict
            _print(one, verdicts[one], result.seconds, result.reason)
    return verdicts


def _print(mutant: Generated, verdict: Verdict, seconds: float, reason: str) -> None:
    place = f"{mutant.module}:{mutant.line}"
    print(
        f"{verdict:9} {seconds:5.1f} s  {place} {mutant.key}  {reason[:200]}",
        flush=True,
    )


def difference(mutant: Generated) -> str:
    """The change as a diff."""
    source = source_of(mutant.module)
    lines = difflib.unified_diff(
        source.decode().splitlines(),
        mutant.apply(source).decode().splitlines(),
        n=0,
        lineterm="",
    )
    return "\n".join([*lines][3:])


def main(arguments: Sequence[str]) -> int:
    """Judge mutants; the exit code is the number of those that survived."""
    parser = argparse.ArgumentParser(
        prog="python -m mutants modules", description=__doc__
    )
    parser.add_argument("modules", nargs="*", default=MODULES, help="paths or patterns")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mutants a module")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--key", default="", help="part of what names a mutant")
    parser.add_argument("--resume", action="store_true", help="skip what was killed")
    parser.add_argument("--measure", action="store_true", help="measure the tests anew")
    parser.add_argument("--report", action="store_true", help="judge none anew")
    parser.add_argument("--write", action="store_true", help="write the documentation")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(tempfile.gettempdir(), "sitestats-mutants"),
        help="where measurements and verdicts are kept",
    )
    options = parser.parse_args(arguments)
    kept = options.folder / "verdicts.json"
    if options.measure or not (options.folder / "seconds.json").exists():
        measure(options.folder)
        kept.unlink(missing_ok=True)
    known: dict[str, str] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    size = None if options.all or options.key else options.sample
    named = modules(options.modules)
    mutants = [one for module in named for one in sample(module, size)]
    mutants = [one for one in mutants if options.key in one.key]
    for entry in listed():
        if entry.equivalent:
            known.update({f"{entry.module} {key}": EQUIVALENT for key in entry.mutants})
    done = {EQUIVALENT, *(KILLED if options.resume else ())}
    left = [one for one in mutants if known.get(f"{one.module} {one.key}") not in done]
    left = [] if options.report else left
    print(f"{len(left)} of {len(mutants)} mutants to judge", flush=True)
    for one, verdict in judge(left, Measured(options.folder)).items():
        known[f"{one.module} {one.key}"] = verdict
        if verdict not in KILLED:
            print(f"\n{one.module}:{one.line} {verdict}\n{one.key}\n{difference(one)}")
    kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
    verdicts = [
        (one, known[key])
        for one in mutants
        if (key := f"{one.module} {one.key}") in known
    ]
    rows = table(named, verdicts)
    print("\n".join("  ".join(row) for row in rows))
    if options.write:
        write_block("modules", f"{as_table(rows)}\n\n{_survivors(verdicts)}")
    return sum(verdict not in {*KILLED, EQUIVALENT} for _, verdict in verdicts)


def table(
    named: Sequence[str], verdicts: Sequence[tuple[Generated, str]]
) -> list[list[str]]:
    """What became of the mutants of each module, as rows below a header."""
    header = ["module", "mutants", "tried", "killed", EQUIVALENT, "survived", "score"]
    rows = [header]
    every = {module: len(mutants_of(module, source_of(module))) for module in named}
    for module in [*named, ""]:
        counts = Counter(
            verdict for one, verdict in verdicts if module in {"", one.module}
        )
        killed = sum(counts[verdict] for verdict in KILLED)
        equivalent = counts[EQUIVALENT]
        survived = counts.total() - killed - equivalent
        rows.append(
            [
                f"`{module}`" if module else "**together**",
                f"{every[module] if module else sum(every.values()):,}",
                *(f"{count:,}" for count in (counts.total(), killed, equivalent)),
                f"{survived:,}",
                f"{killed / max(killed + survived, 1):.1%}",
            ]
        )
    return rows


def _survivors(verdicts: Sequence[tuple[Generated, str]]) -> str:
    reasons = {
        (entry.module, key): entry.because
        for entry in listed()
        if not entry.equivalent
        for key in entry.mutants
    }
    rows = [
        [
            f"`{one.module}`",
            f"`{one.key.replace('|', chr(92) + '|')}`",
            reasons.get((one.module, one.key), "not looked at yet"),
        ]
        for one, verdict in verdicts
        if verdict not in {*KILLED, EQUIVALENT}
    ]
    return as_table([["survivor of", "change", "reason"], *rows]) if rows else ""
