"""Open the built wheel and import it in a clean environment that has its runtime dependencies only.

`python scripts/check_wheel.py FOLDER [--most MB]`; a release is held to 10 MB, which a development build is beyond.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (
    "armarius/py.typed",
    "armarius/_core.pyi",
    "armarius/workspace/verbs.pyi",
    "armarius/__init__.py",
    "armarius/search/thesaurus/wordnet.txt",
    "armarius/cli/starter/chapters/ch001.md",
    "armarius/cli/completions/armarius.zsh",
    "armarius/studio/templates/desk.html",
    "armarius/studio/templates/entity.html",
    "armarius/studio/static/studio.js",
    "armarius/studio/texts.toml",
)
LICENCES = ("LICENSE", "rust/tokens/vocab/NOTICE.md", "python/armarius/search/thesaurus/NOTICE.md")
SBOMS = ("armarius.cyclonedx.json", "armarius-data.cdx.json")
SESSION = """
import sys
import armarius
from armarius.studio import serve
engine = armarius.open(sys.argv[1], watch=False)
pack = engine.assemble(
    query="检查第3章的角色一致性", document="chapters/ch003.md", cursor=100, model="deepseek-chat", budget=8000
)
assert pack.token_count <= 8000, pack
assert "林小雨" in pack.prompt
engine.close()
armarius.shelf  # needs no extra
for call in (lambda: armarius.connect("postgres://nowhere"), lambda: serve(None)):
    try:
        call()
    except armarius.MissingExtra:
        pass
print(repr(pack))
"""


def main() -> None:
    """Check the newest wheel in a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=float, metavar="MB", help="fail when the wheel is larger (millions of bytes)")
    asked = parser.parse_args()
    wheel = max(asked.folder.glob("armarius-*.whl"), key=lambda path: path.stat().st_mtime)
    size = wheel.stat().st_size / 1e6
    if asked.most is not None and size > asked.most:
        raise SystemExit(f"{wheel.name} has {size:.2f} MB, more than {asked.most:g}; the largest:\n{largest(wheel)}")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in NEEDED:
        if needed not in names:
            raise SystemExit(f"{wheel.name} lacks {needed}")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [f"licenses/{licence}.txt" for licence in project["license"].split(" AND ")]
    for needed in [f"licenses/{text}" for text in (*LICENCES, *texts)] + [f"sboms/{sbom}" for sbom in SBOMS]:
        if not any(name.endswith(f".dist-info/{needed}") for name in names):
            raise SystemExit(f"{wheel.name} lacks {needed} beside its metadata")
    if any(name.startswith(("tests/", "benches/", "examples/")) or "__pycache__" in name for name in names):
        raise SystemExit(f"{wheel.name} carries files that are not the package")
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        scripts = Path(place) / ("Scripts" if sys.platform == "win32" else "bin")
        python = scripts / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
        novel = ROOT / "examples" / "novel"
        # The test wheel is a development build, which says so at import; the index stays in the folder.
        environment = {**os.environ, "PYTHONWARNINGS": "ignore::RuntimeWarning", "ARMARIUS_CACHE": place}
        for command in (
            [python, "-c", SESSION, novel],
            [scripts / "armarius", "detect", novel, "--text", "小雨推开门走了进来"],
            [scripts / "armarius", "new", Path(place) / "my-novel"],
            [scripts / "armarius", "--help"],
        ):
            subprocess.run(command, check=True, cwd=place, env=environment)
    print(f"{wheel.name}: {size:.1f} MB, complete, imports and assembles")


def largest(wheel: Path) -> str:
    """The ten files that take most of it, in bytes as packed."""
    files = sorted(zipfile.ZipFile(wheel).infolist(), key=lambda one: -one.compress_size)[:10]
    return "\n".join(f"{one.compress_size:>12,} {one.filename}" for one in files)


if __name__ == "__main__":
    main()
