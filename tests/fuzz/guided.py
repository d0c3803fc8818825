"""`python -m tests.fuzz.guided [TARGET …] [--minutes M | --inputs N]`: the targets of the core, guided by coverage.

cargo-fuzz builds them under the address sanitiser (`tests/fuzz/rust`; what they check is `rust/fuzzed`), libFuzzer
finds inputs that reach new code. What fails is kept in `tests/fuzz/found/rust/TARGET/` and replayed by `cargo test`.
Where there is no nightly toolchain or no cargo-fuzz, that is said and nothing is run.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/fuzz/rust"
FOUND = ROOT / "tests/fuzz/found/rust"
TARGET_DIR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target-fuzz"))
NAMES = sorted(path.stem for path in (PROGRAMS / "targets").glob("*.rs"))
LONGEST = 700  # bytes; no target reads more, but for source code and indexes of it
CARGO = ("cargo", "+nightly", "fuzz")

# Words that the targets are about; what libFuzzer makes of them is kept in TARGET_DIR/corpus.
_TEXT = (
    "甄宝玉见宝二爷，Eva said 宝玉! ＥＶＡ e\u0301va 민수는 二姐姐。\n\n第十二章 “白鹭。”🇨🇳👨\u200d👩\u200d👧 "
    "12345 don't Straße ﷽ が\r\n"
).encode()
SEEDS = {
    "allocation": [bytes(range(1, 200)), b"\xff\x01" * 60],
    "counters": [bytes([n, 9, 0]) + _TEXT for n in range(11)],
    "folding": [_TEXT, "ＡＢＣ ß İ ı ſ ｶﾞ e\u0301 ❤\ufe0f \u00ad".encode()],
    "grams": ["宝玉\n".encode() + _TEXT, b"said eva\n" + _TEXT],
    "keys": [b"\x01\x03\x00king\n\x03king of\n\x04\xe5\xae\x9d\n(a|b)+c\naaabc king of thieves"],
    "matcher": [
        bytes([n, 4]) + "贾宝玉\n宝玉\nEva\n二姐\nBao\n".encode() + _TEXT for n in (0, 1, 3, 5, 13, 21, 29, 37)
    ],
    "outlines": [
        b"\x01@x\nclass A(B):\n    def f(self, x='''\n'''):\n        return {\n        }\nimport os\n",
        b"\x02function f(a) { /* } */ return `${'}'}`; }\nclass B { m() {} }\nconst g = (x) => { h(x); };\n",
        b"\x03impl Display for P {\n    fn fmt(&self) -> R { match x { _ => {} } }\n}\npub fn go() { call(1) }\n",
    ],
    "parts": [bytes([0, 3, 2, 1, 9, 0, 2, 20, 0, 0, 30, 1, 5, 0, 7, 9, 0, 8, 4, 0, 1]) + _TEXT],
    "pieces": [bytes([n]) + b"He met Mr. Holt. " + _TEXT for n in (5, 30, 79)],
    "scip": [
        b'\n\x0b\x12\x09\n\x03abc\x12\x021\x0012!\n\x04a.py\x12\x19\n\x03\x00\x04\x05\x12\x10scip-p p a 1 f().\x18\x01',
        b"\x12\x20\n\x04a.py\x12\x0c\n\x03\x00\x00\x01\x12\x03l 1\x18\x01*\x0adef f(): 0",
    ],
    "truncation": [bytes([n, 9 * n, n, n // 3, 40, 0]) + _TEXT * 2 for n in range(11)],
}  # fmt: skip


def missing():
    """What is not there to fuzz with; None when all of it is."""
    try:
        asked = subprocess.run([*CARGO, "--version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "there is no cargo"
    if asked.returncode == 0:
        return None
    said = asked.stderr.strip().splitlines() or ["cargo +nightly fuzz does not run"]
    return f"{said[0]} (rustup toolchain install nightly; cargo install cargo-fuzz --locked)"


def built():
    """The folder of the programs, for this machine, under the address sanitiser."""
    subprocess.run(
        [*CARGO, "build", "--fuzz-dir", str(PROGRAMS), "--sanitizer", "address"],
        check=True, cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET_DIR)},
    )  # fmt: skip
    said = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return TARGET_DIR / re.search(r"^host: (.+)$", said, re.MULTILINE)[1] / "release"


def run(program, *, inputs=None, seconds=None, seed=1):
    """Figures of one target: inputs, seconds, what was reached, how many failed (libFuzzer ends with the first)."""
    name = program.name
    corpus, crashes = TARGET_DIR / "corpus" / name, TARGET_DIR / "failed" / name
    for folder in (corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    kept = [path.read_bytes() for path in FOUND.glob(f"{name}/*")]
    for number, data in enumerate([*SEEDS[name], *kept]):
        (corpus / f"seed{number}").write_bytes(data)
    before = set(crashes.iterdir())
    limits = [f"-runs={inputs}"] if inputs else []
    limits += [f"-max_total_time={int(seconds)}"] if seconds else []
    begun = time.monotonic()
    done = subprocess.run(
        [
            program, corpus, *limits, f"-max_len={LONGEST}", f"-seed={seed}", "-timeout=25", "-rss_limit_mb=3000",
            "-detect_leaks=0", "-print_final_stats=1", f"-artifact_prefix={crashes}/",
        ],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    tried = re.search(r"number_of_executed_units:\s+(\d+)", done.stderr)
    reached = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", done.stderr)
    found = sorted(set(crashes.iterdir()) - before)
    for path in found:
        data = path.read_bytes()
        place = FOUND / name / hashlib.blake2b(data, digest_size=6).hexdigest()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        said = next((line for line in done.stderr.splitlines() if "panicked at" in line or "ERROR" in line), "")
        print(f"  {name}/{place.name}: {said[:200]}")
    if done.returncode and not found:
        raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
    coverage, features, _ = map(int, reached[-1]) if reached else (0, 0, 0)
    return {
        "inputs": int(tried[1]) if tried else 0,
        "seconds": round(time.monotonic() - begun),
        "edges": coverage,
        "features": features,
        "failed": len(found),
    }


def main():
    """Fuzz what was asked for; the exit status is 1 when something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[*NAMES, []], default=[])
    parser.add_argument("--minutes", type=float, help="for all of them together")
    parser.add_argument("--inputs", type=int, help="of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where the figures go, beside those of other targets there")
    given = parser.parse_args()
    absent = missing()
    if absent:
        print(f"fuzz-rust: not run: {absent}")
        return 0
    names = given.targets or NAMES
    seconds = None if given.minutes is None else max(1, given.minutes * 60 / len(names))
    inputs = given.inputs if given.inputs or seconds else 100_000
    programs = built()
    figures = {}
    for name in names:
        figures[name] = one = run(programs / name, inputs=inputs, seconds=seconds, seed=given.seed)
        said = f"{one['inputs']:,} inputs in {one['seconds']} s, {one['edges']} edges, {one['failed']} failed"
        print(f"{name}: {said}", flush=True)
        if given.json:
            _record(given.json, {name: one})
    return 1 if any(one["failed"] for one in figures.values()) else 0


def _record(path, figures):
    known = json.loads(path.read_text("utf-8"))["targets"] if path.exists() else {}
    document = {
        "name": path.stem,
        "date": datetime.now(UTC).date().isoformat(),
        "how": "cargo-fuzz (libFuzzer) under the address sanitiser, with overflow checks; seconds of a shared machine",
        "targets": dict(sorted({**known, **figures}.items())),
    }
    path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
