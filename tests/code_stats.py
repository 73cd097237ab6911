"""Counts what a reader of the code meets; `make stats` prints it, `tests/test_code_stats.py` holds the limits.

Run as `python tests/code_stats.py`.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, fields
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "memspan"
SMALL = 60
"""Lines below which a file counts as small."""


@dataclass(frozen=True, kw_only=True)
class CodeStats:
    """Size and shape of the package."""

    files: int
    lines: int
    """All lines, blank ones included."""
    code_lines: int
    """Lines that are not blank and not only comment or docstring, as counters of code count them."""
    comment_share: float
    """Comment lines / all lines."""
    small: tuple[str, ...]
    """Files under 60 lines, without `__init__`."""
    single_importer: tuple[str, ...]
    """Modules that exactly one other module imports, without `__init__` and commands."""
    repeated_classes: tuple[str, ...]
    """Class names defined in more than one file."""
    crowded: tuple[str, ...]
    """Folders with more than 25 files."""
    cycles: tuple[str, ...]
    """Groups of modules that import each other, imports inside functions included."""


def code_stats(root: Path = SOURCE) -> CodeStats:
    """Read every file below `root` once and count."""
    texts = {path: path.read_text() for path in sorted(root.rglob("*.py"))}
    names = {path: _module(path, root) for path in texts}
    modules = set(names.values())
    graph = {names[path]: _imports(ast.parse(text), names[path], modules) for path, text in texts.items()}
    importers: Counter[str] = Counter(target for targets in graph.values() for target in targets)
    classes: defaultdict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(names[path])
    lines = {path: text.count("\n") for path, text in texts.items()}
    comments = sum(line.lstrip().startswith("#") for text in texts.values() for line in text.splitlines())
    folders = Counter(path.parent for path in texts)
    return CodeStats(
        files=len(texts),
        lines=sum(lines.values()),
        code_lines=sum(map(_code_lines, texts.values())),
        comment_share=comments / sum(lines.values()),
        small=tuple(
            f"{names[path]} {lines[path]}" for path in texts if lines[path] < SMALL and path.name != "__init__.py"
        ),
        single_importer=tuple(
            names[path]
            for path in texts
            if path.name not in ("__init__.py", "__main__.py") and importers[names[path]] == 1
        ),
        repeated_classes=tuple(
            f"{name}: {', '.join(sorted(where))}" for name, where in classes.items() if len(where) > 1
        ),
        crowded=tuple(f"{folder.relative_to(root)} {count}" for folder, count in folders.items() if count > 25),
        cycles=tuple(" ".join(sorted(group)) for group in _cycles(graph)),
    )


def _code_lines(text: str) -> int:
    strings = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
    docstrings = [node for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    described = {number for node in docstrings for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in described
        for number, line in enumerate(text.splitlines(), 1)
    )


def _module(path: Path, root: Path) -> str:
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, own: str, modules: set[str]) -> set[str]:
    """Modules of the package that this one imports, anywhere, but not for type checking only."""
    skipped = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in modules}
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else node.module)
    return found - {own}


def _cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Strongly connected components of more than one module (Tarjan), `__init__` of a module's own folder aside."""
    edges = {
        module: {target for target in targets if not module.startswith(f"{target}.")}
        for module, targets in graph.items()
    }
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in sorted(edges[module]):
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            start = stack.index(module)
            group = set(stack[start:])
            del stack[start:]
            if len(group) > 1:
                found.append(group)

    for module in edges:
        if module not in index:
            visit(module)
    return found


def main() -> None:
    """Print every count, and what lies behind it."""
    stats = code_stats()
    for field in fields(stats):
        value = getattr(stats, field.name)
        if isinstance(value, tuple):
            sys.stdout.write("\n    ".join([f"{field.name}: {len(value)}", *value]) + "\n")
        else:
            sys.stdout.write(f"{field.name}: {value:.3f}\n" if isinstance(value, float) else f"{field.name}: {value}\n")


if __name__ == "__main__":
    main()
