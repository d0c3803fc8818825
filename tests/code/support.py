"""What the tests of the code graph share: indices, comparable edges, a source written by hand."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.programs import python_program

from armarius.code import Reference

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
EXAMPLE = HERE.parent.parent / "examples" / "code-project"
EXAMPLE_INDEX = DATA / "code-project.scip"


def edges(graph, *, resolution=True):
    """Edges inside of the project by qualified name, comparable between graphs."""
    nodes = [graph.node(number) for number in range(len(graph))]
    return {
        (
            nodes[e.origin].qualified,
            nodes[e.target].qualified,
            *(e.kind, e.path, e.line, e.sites),
            *([e.exact] if resolution else []),
        )
        for e in graph.edges()
        if not nodes[e.origin].external and not nodes[e.target].external
    }


def neighbours(graph, symbol, kind, *, incoming):
    """Qualified names at the other end of the edges of one kind."""
    (number,) = graph.find(symbol)
    nodes = [graph.node(i) for i in range(len(graph))]
    found = [edge for edge in graph.edges() if edge.kind == kind]
    ends = [(e.origin, e.target) if incoming else (e.target, e.origin) for e in found]
    return sorted({nodes[far].qualified for far, near in ends if near == number and not nodes[far].external})


@dataclass
class HandSource:
    """Python files whose functions call each other as told: `{"a": ["b", "c"]}` in one module."""

    root: Path
    calls: dict[str, list[str]]
    name: str = "hand"
    lines: dict[str, int] = field(default_factory=dict)

    def __post_init__(self):
        text = []
        for caller, callees in self.calls.items():
            self.lines[caller] = len(text) + 1
            text += [f"def {caller}():", *(f"    {callee}()" for callee in callees), "    pass", ""]
        (self.root / "m.py").write_text("\n".join(text))

    def symbols(self):
        return ["s python p _ m/__init__:", *(f"s python p _ m/{name}()." for name in self.calls)]

    def references(self, symbol):
        if symbol.endswith("__init__:"):
            return [Reference("m.py", 1, 1, 1, True)]
        name = symbol.split("/")[-1].removesuffix("().")
        if name not in self.lines:
            return []
        found = [Reference("m.py", self.lines[name], 5, 5 + len(name), True)]
        for caller, callees in self.calls.items():
            for place, callee in enumerate(callees):
                if callee == name:
                    found.append(Reference("m.py", self.lines[caller] + 1 + place, 5, 5 + len(name), False))
        return found


def fake_ckb(folder: Path, mode: str, index: Path = EXAMPLE_INDEX) -> tuple[str, Path]:
    """A program that acts as CKB in a mode of `fake_ckb.py`; and the file that logs its process ids."""
    program, log = folder / "ckb-fake", folder / "ckb-pids.txt"
    log.touch()
    lines = [
        "import sys",
        f"sys.path.insert(0, {str(HERE)!r})",
        "from fake_ckb import main",
        f"main({mode!r}, {str(index)!r}, {str(log)!r})",
    ]
    return str(python_program(program, "\n".join(lines), "-Wignore")), log
