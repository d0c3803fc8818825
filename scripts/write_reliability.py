"""Write the table of docs/reliability.md from what ran: `python scripts/write_reliability.py [--check]`.

This file has the promises and their tests. The runs of `make test-slow` come from `benches/results/reliability.json`,
where every slow test records its result; a test that never ran is marked as such. With `--check` nothing is written,
and a page that differs is an error.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
RESULTS = ROOT / "benches" / "results" / "reliability.json"
BEGIN = "<!-- scripts/write_reliability.py writes from here -->"
END = "<!-- to here -->"
_HEAD = "| promise | tested by | `make test` | `make test-slow` |\n|---|---|---|---|\n"


@dataclass(frozen=True)
class Row:
    """A promise.

    Attributes:
        promise: The guarantee.
        tested: The method and the tests.
        often: The runs in `make test`.
        unit: The unit of the count.
        slow: Node ids of the slow tests, without brackets; the counts of all their runs are added up.
    """

    promise: str
    tested: str
    often: str
    unit: str = ""
    slow: tuple[str, ...] = ()


_FAULTS, _RELIABILITY = "tests/index/test_faults.py", "tests/reliability"
ROWS = (
    Row(
        "If a process is killed while it indexes, the next opening builds the index again: it is sound and equals the "
        "folder; vectors are kept",
        "a child process is killed (SIGKILL) at a random moment, then the index is verified and compared: "
        f"`{_FAULTS}`; vectors: `tests/vectors/test_queue.py`",
        "6 kills",
        "kills",
        (f"{_FAULTS}::test_killed_five_hundred_times",),
    ),
    Row(
        "A failing call on a file (EIO, ENOSPC, once or from then on) gives one of our errors or an answer with a "
        "warning; no acknowledged write is lost, the same engine continues when the disk works again, and the next "
        "opening equals the folder",
        "the n-th `open`, `read`, `write`, `fsync`, `rename`, `truncate`, `mkdir` or `unlink` below project and cache "
        "fails for SQLite, Python and Rust, in a session of opening, saving, records, prompt and vectors: "
        f"`{_RELIABILITY}/test_io_faults.py`",
        "6 points",
        "points",
        (f"{_RELIABILITY}/test_io_faults.py::test_a_failed_call_is_an_error_of_ours_and_loses_nothing",),
    ),
    Row(
        "A damaged index is detected, and the answers do not change",
        "bits flipped, pages zeroed and swapped, blocks overwritten, files cut and lengthened, in a closed index and "
        f"in the index of a crashed process: `{_RELIABILITY}/test_damage.py`",
        "32 damages",
        "damages",
        (f"{_RELIABILITY}/test_damage.py::test_a_damaged_index_is_always_noticed",),
    ),
    Row(
        "Damaged vectors give no wrong similarity: they are computed again, or a warning says that they are missing",
        "the file of the approximate index damaged, foreign, emptied, replaced; stored vectors changed, swapped and "
        f"cut by SQL; every similarity recomputed: `{_RELIABILITY}/test_damage.py`",
        "17 damages",
        "damages",
        (f"{_RELIABILITY}/test_damage.py::test_damaged_vectors_give_no_wrong_similarity_and_are_made_again",),
    ),
    Row(
        "A cut, emptied, deleted or replaced index is built again, also while open; the database of another program is "
        "replaced in the cache folder, and refused and left unchanged in a folder that you chose",
        f"truncations, deletions, swaps: `{_FAULTS}`, `tests/store/test_place.py`, `tests/hostile`",
        "18 cuts and the cases",
    ),
    Row(
        "A full disk raises `StoreFull`, which names the full disk; the next opening is complete",
        "disks of 8 to 400 KB (as root, on Linux), a limit on file sizes",
        "8 sizes",
    ),
    Row(
        "A failed recovery is tried again with the next question",
        "the place of the index is blocked, then freed",
        "3 tries",
    ),
    Row(
        "Writes of several processes to one project are all there, once: rules, memories, entities, chapters",
        "each process retries a busy store, and the result is compared with the acknowledged writes: "
        f"`{_RELIABILITY}/test_writers.py`",
        "3 processes × 8 writes",
        "writes by 8 processes",
        (f"{_RELIABILITY}/test_writers.py::test_what_several_processes_write_is_there_once_and_whole",),
    ),
    Row(
        "Edits of one page by Python, the channel, MCP and the studio survive while a text editor saves it, and the "
        "page keeps its mode, owner, line ends and byte order mark",
        "five processes, each with an entity of its own; the result is compared with the acknowledged edits: "
        f"`{_RELIABILITY}/test_page_edits.py`",
        "5 processes × 6 edits",
        "edits, the processes killed eight times each",
        (f"{_RELIABILITY}/test_page_edits.py::test_what_every_surface_and_an_editor_write_into_one_page_is_there",),
    ),
    Row(
        "A change without a watcher is found by the next comparison: files, codex, memories, rules, the folder itself",
        "files and records changed between two openings; another folder moved into the place of a watched one",
        "the cases, and a model of edits",
        "files",
        (
            f"{_FAULTS}::test_twenty_thousand_files_that_come_while_nobody_watches",
            f"{_FAULTS}::test_a_flood_of_files_under_the_watcher_is_all_there_in_the_end",
        ),
    ),
    Row(
        "Threads that assemble while files change each see one state of the project",
        "32 threads and an editor: `tests/engine/test_concurrency.py`",
        "192 prompts",
        "prompts",
        ("tests/engine/test_concurrency.py::test_thirty_two_threads_assemble_while_files_change",),
    ),
    Row(
        "No text of a document, card, memory, rule, lorebook, conversation, tool or selection adds a heading, fence or "
        "mark to a prompt",
        "155 forged headings, fences and role markers in every place at once, on the engine, the channel, MCP, "
        f"LangGraph, LangChain and LlamaIndex: `{_RELIABILITY}/test_injections.py`; each forgery alone: `tests/prompt`",
        "6 texts × 6 surfaces",
        "texts and surfaces",
        (f"{_RELIABILITY}/test_injections.py::test_no_text_from_anywhere_changes_the_structure_of_a_prompt",),
    ),
    Row(
        "Numbers, texts and switches are accepted unchanged or refused with the name of the field, in Python, on the "
        "wire, over the channel and MCP",
        "`tests/test_strict.py`, `tests/engine/test_arguments.py`",
        "16 calls × 11 values",
    ),
    Row(
        "Hostile text, paths and files give an answer or one of our errors; no error has an absolute path, and no file "
        "outside the project is read",
        "`tests/integrations` (channel, MCP, LangGraph, LangChain, LlamaIndex), `tests/hostile`",
        "102 texts and 435 paths a surface",
        "cases",
        ("tests/hostile/test_hostile.py::test_nor_does_anything_else_of_the_whole_product",),
    ),
    Row("Mutated bytes crash no part of the core and no reader", "`tests/fuzz`, 14 targets", "300 inputs a target"),
    Row(
        "Damaged lorebooks, cards and vaults give only our errors",
        "`tests/lorebooks/test_hostile.py`",
        "hundreds",
        "files",
        ("tests/lorebooks/test_hostile.py::test_ten_thousand_damaged_files_give_only_our_errors",),
    ),
    Row(
        "Projects on a server survive kills, restarts and pauses of the server, kills of its workers, and eight "
        "processes at once",
        "a temporary PostgreSQL: `tests/server`",
        "the cases",
        "tests",
        tuple(f"tests/server/{name}.py" for name in (
            "test_commands", "test_failover", "test_failures", "test_kills", "test_load", "test_pooler",
            "test_postgres_store", "test_postgres_vectors",
        )),
    ),
    Row(
        "An engine works on both sides of a fork, whatever its threads were doing",
        "`tests/processes/test_fork.py`",
        "13 tests",
    ),
    Row(
        "For any bytes, the core gives the answer of an independent reference",
        "`rust/fuzzed`, 11 targets; `make fuzz-rust` and `make test-asan`, below",
        "300 inputs a target, and every past failure",
    ),
    Row(
        "A signal interrupts one long text or one large matcher, and the next answer is complete",
        "`tests/processes/test_interrupts.py`, by the rate of checks; `rust/interrupt`, ended at four checks",
        "24 calls",
    ),
    Row("Ctrl-C ends a long call and damages no data", "`tests/processes/test_signals.py`", "5 calls"),
    Row(
        "A process that ends while it builds and embeds leaves a sound index and prints nothing",
        "`tests/processes/test_signals.py`",
        "2 exits",
    ),
    Row(
        "Questions, texts, conversations and names of 100 MB are refused within half a second, with the limit",
        "`tests/engine/test_sizes.py`",
        "every surface but MCP",
    ),
    Row(
        "An engine that is dropped without `close` frees its files, threads and watches",
        "`tests/processes/test_dropped.py`",
        "30 engines",
    ),
    Row(
        "The adapter of a graph program fulfils the contract of graph stores, the folder of e5 is made once and "
        "checked, the gates of the source hold",
        "`tests/graph/test_stores.py`, `tests/vectors/test_e5.py`, `tests/io/test_gates.py`",
        "the contract over a fake program",
        "tests",
        ("tests/graph/test_stores.py", "tests/vectors/test_e5.py", "tests/io/test_gates.py"),
    ),
    Row(
        "Memory, open files and threads stay flat",
        "`make soak MINUTES=20`, once all caches are full, allows growth of 3 MB, 1.5 MB in use, two files and one "
        "thread. On 2026-11-22, in 13,333 turns after the first 10,000, beside builds and tests: in use 104.7, 105.1, "
        "104.8, 105.4, 105.0 MB for each fifth, the process 111.3 to 113.4 "
        "([0182](decisions/0182-what-is-remembered-is-bounded-and-full-soon.md))",
        "",
    ),
)  # fmt: skip


def ran(row: Row, results: Mapping[str, Mapping[str, Any]]) -> str:
    """What is known to have run of a row's slow tests, in words; "" for a row without any."""
    if not row.slow:
        return ""
    found = [(id_, one) for id_, one in results.items() if any(is_of(id_, name) for name in row.slow)]
    missing = [name for name in row.slow if not any(is_of(id_, name) for id_, _ in found)]
    if not found:
        return "not run yet"
    rows = [one for _, one in found]
    failed, megabytes = sum(one["failures"] for one in rows), [one["megabytes"] for one in rows if one["megabytes"]]
    said = [f"{sum(one['count'] for one in rows):,} {row.unit}", f"{failed:,} failed" if failed else "none failed"]
    said.append(f"{sum(one['seconds'] for one in rows):,.0f} s" + (f", {max(megabytes)} MB" if megabytes else ""))
    said.append(f"{min(one['date'] for one in rows)}, {', '.join(sorted({one['version'] for one in rows}))}")
    if missing:
        said.append("not run yet: " + ", ".join(f"`{name}`" for name in missing))
    return "; ".join(said)


def is_of(id_: str, name: str) -> bool:
    """Whether a node id is of the test, or of the file, that is named."""
    return id_ == name or id_.startswith((f"{name}[", f"{name}::"))


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """All rows, as Markdown."""
    lines = (f"| {row.promise} | {row.tested} | {row.often} | {ran(row, results)} |\n" for row in ROWS)
    return _HEAD + "".join(lines)


def page(text: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page with its table as the results have it."""
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{PAGE}: {BEGIN!r} and {END!r} are not there")
    return f"{before}{BEGIN}\n\n{table(results)}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write or check; the exit status."""
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    now = PAGE.read_text("utf-8")
    made = page(now, results)
    if "--check" not in arguments:
        PAGE.write_text(made, "utf-8")
    elif made != now:
        sys.stderr.write(f"{PAGE.relative_to(ROOT)}: not what ran; run python scripts/write_reliability.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
