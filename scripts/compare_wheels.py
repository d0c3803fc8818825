"""Ask two builds of the package the same things about the same projects, and say which answers differ.

    compare_wheels.py PROJECT... --before OLD.whl --after NEW.whl
    compare_wheels.py PROJECT... --before OLD.whl --save FOLDER
    compare_wheels.py PROJECT... --against FOLDER --after-path python

The requests are drawn from the words of each project, the same for both sides: prompts of every encoding and many
budgets, prompts that continue others, inspections, questions, searches, names, evidence, lines of the JSON channel.
Every side answers in processes of its own, on a copy of the project and an index of its own, twice unless `--runs 1`:
a build that does not agree with itself cannot be compared.

Exit status: 0 when at most `--allow` percent of the answers differ; 1 when more do, or a build contradicts itself, or a
request could not be put to a side (a name that `comparison/runner.py` does not know); 2 for bad arguments.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from comparison.book import read_book
from comparison.plan import requests_for
from comparison.record import Record, load, save
from comparison.side import Side, answers_of, of_build, of_folder, project_copy
from comparison.verdict import Verdict, compared, diff_lines

_DIFF = Path("target") / "compare.diff"


def main(argv: list[str] | None = None) -> int:
    """Compare, or record one side.

    Args:
        argv: The words of the command line; those of the process when not given.

    Returns:
        The exit status.
    """
    arguments = _parsed(argv)
    failed: list[str] = []
    verdicts: list[Verdict] = []
    diff: list[str] = []
    with ExitStack() as stack:
        try:
            before = _side(stack, "before", arguments.before, arguments.before_path)
            after = _side(stack, "after", arguments.after, arguments.after_path)
            for project in arguments.projects:
                records = _asked(project, before, after, arguments, failed)
                if arguments.save:
                    save(records[0], arguments.save)
                verdict = compared(records[0], records[-1])
                failed += [f"{verdict.book}: {what}" for what in verdict.broken]
                if len(records) == 2:
                    verdicts.append(verdict)
                    diff += diff_lines(records[0], records[1], verdict.changed)
        except (OSError, ValueError, RuntimeError) as error:
            print(f"compare_wheels.py: {error}", file=sys.stderr)
            return 2
    return _report(verdicts, diff, failed, arguments)


def _parsed(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "projects", nargs="+", type=Path, metavar="PROJECT", help="project folders, copied, not written"
    )
    old = parser.add_mutually_exclusive_group(required=True)
    old.add_argument("--before", type=Path, metavar="BUILD", help="a wheel, or a virtual environment with the package")
    old.add_argument("--before-path", type=Path, metavar="FOLDER", help="holds the package with its compiled core")
    old.add_argument("--against", type=Path, metavar="FOLDER", help="what --save recorded, with its requests")
    new = parser.add_mutually_exclusive_group()
    new.add_argument("--after", type=Path, metavar="BUILD", help="as --before")
    new.add_argument("--after-path", type=Path, metavar="FOLDER", help="as --before-path")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="record requests and answers of the before side")
    parser.add_argument("--requests", type=int, default=100, metavar="N", help="a project (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="another one draws other requests (default 1)")
    parser.add_argument("--runs", type=int, default=2, choices=(1, 2), help="of each side (default 2)")
    parser.add_argument("--allow", type=float, default=0.0, metavar="PERCENT", help="that may differ (default 0)")
    parser.add_argument("--leave-out", action="append", default=[], metavar="PATH", help="of a project; not copied")
    parser.add_argument("--diff", type=Path, default=_DIFF, metavar="FILE", help=f"what differs (default {_DIFF})")
    arguments = parser.parse_args(argv)
    if not (arguments.after or arguments.after_path or arguments.save):
        parser.error("nothing to do: neither --after, --after-path nor --save")
    if arguments.against and arguments.save:
        parser.error("--against has been saved already")
    if arguments.requests < 1:
        parser.error(f"--requests must be >= 1, got {arguments.requests}")
    names = [project.resolve().name for project in arguments.projects]
    for project in arguments.projects:
        if not project.is_dir():
            parser.error(f"not a folder: {project}")
        if names.count(project.resolve().name) > 1:
            parser.error(f"two projects are called {project.resolve().name}")
    return arguments


def _side(stack: ExitStack, name: str, build: Path | None, folder: Path | None) -> Side | None:
    if build is not None:
        return stack.enter_context(of_build(name, build))
    return None if folder is None else of_folder(name, folder)


def _asked(
    project: Path, before: Side | None, after: Side | None, arguments: argparse.Namespace, failed: list[str]
) -> list[Record]:
    """The records of one project, before first; where a side contradicts itself is added to `failed`."""
    records: list[Record] = []
    with project_copy(project, arguments.leave_out) as (copy, digest):
        if before is None:
            records.append(load(arguments.against, copy.name, digest))
            requests = records[0].requests
        else:
            requests = requests_for(read_book(copy), arguments.requests, seed=arguments.seed)
    for side in (before, after):
        if side is None:
            continue
        # A fresh copy for each: what one leaves behind is no business of the other.
        with project_copy(project, arguments.leave_out) as (copy, digest):
            started = time.monotonic()
            answers = answers_of(side, copy, digest, requests, runs=arguments.runs)
            took = time.monotonic() - started
        print(
            f"{copy.name}: {side.name} is {answers[0].package}, {len(requests)} requests x {len(answers)}, {took:.1f} s"
        )
        records.append(answers[0])
        for again in answers[1:]:
            odd = compared(answers[0], again).changed
            failed += [f"{copy.name}: {side.name} answers {one} differently in a second process" for one in odd]
    return records


def _report(verdicts: list[Verdict], diff: list[str], failed: list[str], arguments: argparse.Namespace) -> int:
    for verdict in verdicts:
        asked = ", ".join(f"{count} {verb}" for verb, count in sorted(verdict.asked.items()))
        total, changed = verdict.asked.total(), len(verdict.changed)
        print(f"{verdict.book}: {total - changed} identical, {changed} changed ({asked}; {verdict.refused} refused)")
    for what in failed:
        print(f"compare_wheels.py: {what}", file=sys.stderr)
    if not verdicts:
        return 1 if failed else 0
    total, changed = (
        sum(counts) for counts in zip(*((v.asked.total(), len(v.changed)) for v in verdicts), strict=True)
    )
    percent = 100 * changed / total
    print(f"all: {total} requests, {total - changed} identical, {changed} changed ({percent:.2f} %)")
    if diff:
        arguments.diff.parent.mkdir(parents=True, exist_ok=True)
        arguments.diff.write_text("\n".join(diff), "utf-8", "backslashreplace")
        print(f"request, before and after of each: {arguments.diff}")
    return 1 if failed or percent > arguments.allow else 0


if __name__ == "__main__":
    sys.exit(main())
