"""A build to run: which Python, which package before all others, and its answers to the requests of a book."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from comparison.book import digest_of, files_of
from comparison.plan import Request
from comparison.record import Record

__all__ = ["Side", "answers_of", "of_build", "of_folder", "project_copy"]

_RUNNER = Path(__file__).with_name("runner.py")

# A busy machine is not a difference: no source may be given up as late.
_PATIENT = "[assembly]\nfetch_timeout_s = 600.0\n"


@dataclass(frozen=True)
class Side:
    """One build.

    Attributes:
        name: For the report.
        python: The interpreter that runs it.
        folder: Put first on the path; None when the interpreter has the package installed.
    """

    name: str
    python: Path
    folder: Path | None


def of_folder(name: str, folder: Path) -> Side:
    """The package in `folder`, its compiled core inside, with this interpreter's other packages.

    Raises:
        ValueError: There is no package with a core.
    """
    package = folder.resolve() / "armarius"
    if not (package / "__init__.py").is_file() or not (*package.glob("_core*.so"), *package.glob("_core*.pyd")):
        raise ValueError(f"{folder}: no package armarius with its compiled core")
    return Side(name, Path(sys.executable), folder.resolve())


@contextmanager
def of_build(name: str, build: Path) -> Iterator[Side]:
    """A wheel, unpacked for as long as it is needed, or a virtual environment that has the package.

    Raises:
        ValueError: It is neither.
    """
    if build.suffix == ".whl" and build.is_file():
        with tempfile.TemporaryDirectory(prefix="armarius-wheel-") as place:
            with zipfile.ZipFile(build) as wheel:
                wheel.extractall(place)
            yield of_folder(name, Path(place))
    elif (build / "pyvenv.cfg").is_file():
        # Not resolved: the link itself is what tells Python which environment it is in.
        python = build.absolute() / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        yield Side(name, python, None)
    else:
        raise ValueError(f"{build}: neither a wheel nor a virtual environment")


@contextmanager
def project_copy(folder: Path, left_out: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """The project in a folder of the same name, and the digest of what was copied; nothing is written to the original.

    Args:
        folder: The project.
        left_out: Paths of files or folders, relative to it, that are not copied.
    """
    with tempfile.TemporaryDirectory(prefix="armarius-compare-") as place:
        copy = Path(place) / folder.resolve().name
        copy.mkdir()
        for path in files_of(folder):
            if not any(path == out or path.startswith(out.rstrip("/") + "/") for out in left_out):
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / path, copy / path)
        digest = digest_of(copy)
        if not (copy / "armarius.toml").exists():
            (copy / "armarius.toml").write_text(_PATIENT, "utf-8")
        yield copy, digest


def answers_of(side: Side, project: Path, digest: str, requests: Sequence[Request], *, runs: int) -> list[Record]:
    """What `side` answers, in `runs` processes: the first builds the index, the others find it and hash otherwise.

    Args:
        side: The build.
        project: A copy; requests may write to it, the last ones undo what they did.
        digest: Of the project.
        requests: Of `plan.requests_for`.
        runs: How often; two show whether the build agrees with itself.

    Raises:
        RuntimeError: The process failed, or Python found another package than the side's.
    """
    with tempfile.TemporaryDirectory(prefix="armarius-cache-") as cache:
        asked, said = Path(cache) / "requests.json", Path(cache) / "answers.jsonl"
        asked.write_text(json.dumps(list(requests), ensure_ascii=False), "utf-8")
        records = []
        for run in range(runs):
            _run(side, [str(project), str(asked), str(said)], cache, hash_seed=run)
            with said.open(encoding="utf-8") as lines:
                head, *answers = map(json.loads, lines)
            if side.folder is not None and Path(head["package"]).parent.resolve() != side.folder:
                raise RuntimeError(f"{side.name}: Python took the package in {head['package']}, not in {side.folder}")
            package = f"{head['version']} in {head['package']}"
            by_id = {one["id"]: one for one in answers}
            records.append(Record(project.name, digest, list(requests), by_id, package))
    return records


def _run(side: Side, arguments: list[str], cache: str, *, hash_seed: int) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ARMARIUS"))}
    environment |= {"PYTHONHASHSEED": str(hash_seed), "PYTHONUTF8": "1", "ARMARIUS_CACHE": cache}
    if side.folder is not None:
        environment["PYTHONPATH"] = str(side.folder)
    # -P: the runner's own folder is not where packages are looked for.
    done = subprocess.run(
        [side.python, "-P", _RUNNER, *arguments], env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        raise RuntimeError(f"{side.name}: the runner failed with status {done.returncode}:\n{done.stderr[-4000:]}")
