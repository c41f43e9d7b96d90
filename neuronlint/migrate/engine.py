"""Migrates the files of a project: codemods, round by round, until nothing is left that they change."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from neuronlint.collecting import paused
from neuronlint.edits import Document, EditError, together
from neuronlint.finding import Finding, Severity
from neuronlint.migrate.annotate import annotated
from neuronlint.migrate.change import Change, Codemod, Remark
from neuronlint.migrate.codemods import CODEMODS, FROM_XLA, LEFT, MARKERS
from neuronlint.migrate.codemods.unused_imports import unused, used
from neuronlint.migrate.documents import UnreadableError, Written, read_document
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.lines import origins
from neuronlint.migrate.operations import AddImport, After, Before, Operation
from neuronlint.migrate.plan import Edit, FilePlan, Note
from neuronlint.source.file import SourceFile
from neuronlint.source.project import Project, from_disk
from neuronlint.source_lane import check_tree, project_of, resolved

ROUNDS = 40
CUDA_ONLY = "NRN703"
ANNOTATION = "NRN921"
"""The rule that finds the comments which notes become: no note of its own."""
PASSES = 3
"""How often the files of a project are gone through: what one of them holds may rest on another."""
_WORDS = (
    "cuda", "nccl", "amp", "float16", "pin_memory", "fused", "channels_last", "jit", ".compile", "backends", "fp16",
    "tf32", "Generator", "torch.load", "torch.save", "TrainingArguments", "_precision", "_offload",
    "accelerator", "inference_mode", "torch_xla",
)  # fmt: skip
_ACCELERATED = ("cuda", "nccl", "torch_xla", "neuron", "accelerator")


@dataclass(slots=True)
class _File:
    """One file on its way: `origins` are the lines of the original that its lines come from."""

    path: str
    document: Written
    text: str
    origins: list[int]
    module: ast.Module
    names: set[str]
    edits: list[Edit] = field(default_factory=list)
    notes: dict[tuple[str, int], Note] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    changed: bool = False

    def line(self, node: ast.AST) -> int:
        """The line of the original that a node comes from."""
        return self.origin(getattr(node, "lineno", 1))

    def of(self, finding: Finding) -> int:
        """The line of the original that a finding is about."""
        return self.origin(finding.span.line if finding.span else 1)

    def origin(self, line: int) -> int:
        return self.origins[min(line, len(self.origins)) - 1]


def migrate(files: Mapping[str, bytes], journey: Journey, packages: Iterable[str] = ()) -> list[FilePlan]:
    """What becomes of files, by path; nothing is written and nothing of them is run.

    `packages` are the folders that hold an `__init__.py`. A file that cannot be read or parsed is left as it is, with
    a line that says why.
    """
    with paused():
        return list(_migrated(files, journey, frozenset(packages)))


def _migrated(files: Mapping[str, bytes], journey: Journey, packages: frozenset[str]) -> Iterator[FilePlan]:
    opened: dict[str, _File] = {}
    plans: dict[str, FilePlan] = {}
    for path, data in files.items():
        try:
            opened[path] = _opened(path, data)
        except UnreadableError as error:
            plans[path] = FilePlan(path, data, data, problem=str(error))

    def read(path: str) -> str | None:
        return opened[path].text if path in opened else from_disk(path)

    projects: dict[str, list[_File]] = {}
    for path, file in opened.items():
        projects.setdefault(project_of(path, packages), []).append(file)
    for members in projects.values():
        _project(members, journey, read)
    plans |= _judged(opened, journey, read, packages)
    for path in files:
        yield plans[path]


def _opened(path: str, data: bytes) -> _File:
    document = read_document(path, data)
    module = _parsed(path, document.text)
    count = document.text.count("\n") + 1
    return _File(path, document, document.text, list(range(1, count + 1)), module, used(module))


def _parsed(path: str, text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, path)
    except SyntaxError as error:
        raise UnreadableError(f"{path}:{error.lineno or 1}: does not parse: {error.msg}; left as it is") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(f"{path}: cannot be parsed: {error}; left as it is") from None


Read = Callable[[str], str | None]


def _project(files: Sequence[_File], journey: Journey, read: Read) -> None:
    chosen = {"cuda": CODEMODS, "xla": FROM_XLA}.get(journey.origin, (*FROM_XLA, *CODEMODS))
    for _ in range(PASSES):
        changed = [_through(file, journey, read, chosen) for file in files if _holds(file, _WORDS)]
        if not any(changed):
            break
    if not journey.is_native and any(_holds(file, _ACCELERATED) for file in files):
        for file in files:
            _through(file, journey, read, MARKERS)
    for file in files:
        if file.changed or _holds(file, _WORDS):
            _mend(file, journey, read)
        if "cuda" in file.text:
            _through(file, journey, read, LEFT)
    for file in files:
        if file.changed:
            _apply(file, tuple(unused(file.module, file.names)))


def _holds(file: _File, words: Iterable[str]) -> bool:
    return any(word in file.text for word in words)


def _through(file: _File, journey: Journey, read: Read, codemods: Sequence[Codemod]) -> bool:
    """Makes all changes of these codemods in a file; whether there were any."""
    changed = False
    for _ in range(ROUNDS):
        source = SourceFile(file.path, file.text, file.module, Project(read))
        mine = replace(journey, traced=journey.is_traced(source))
        found = [item for codemod in codemods for item in codemod(source, mine)]
        changes = _compatible(file, [item for item in found if isinstance(item, Change)], journey.unsafe)
        _remark(file, [item for item in found if isinstance(item, Remark)])
        if not _made(file, changes):
            _remark(file, found)  # what is left waits for consent
            return changed
        changed = True
    return changed


def _remark(file: _File, found: Iterable[Change | Remark]) -> None:
    for item in found:
        kind = item.kind if isinstance(item, Remark) else "consent"
        if isinstance(item, Change) and item.safe:
            continue
        line = file.line(item.node)
        file.notes.setdefault((item.pattern, line), Note(line, item.pattern, item.message, kind))


def _compatible(file: _File, changes: Iterable[Change], unsafe: bool) -> list[Change]:
    """The changes that can be made at once: none within the nodes of another. What is left comes in a later round."""
    taken: list[tuple[tuple[int, int], tuple[int, int]]] = []
    chosen = []
    for change in changes:
        spans = [_span(o) for o in change.operations if not isinstance(o, (AddImport, After, Before))]
        free = not any(start < end_of and start_of < end for start, end in spans for start_of, end_of in taken)
        refused = (change.pattern, ast.dump(change.node)) in file.refused
        if free and not refused and (change.safe or unsafe):
            taken += spans
            chosen.append(change)
    return chosen


def _span(operation: Operation) -> tuple[tuple[int, int], tuple[int, int]]:
    node = operation.node  # type: ignore[union-attr]
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _made(file: _File, changes: Sequence[Change]) -> bool:
    """Makes the changes, all at once or, where that breaks the file, each that by itself does not."""
    if not changes:
        return False
    lines = [(file.line(change.node), change) for change in changes]
    made = list(changes)
    if not _apply(file, _operations(made)):
        made = _sound(file, made)
        if not made or not _apply(file, _operations(made)):
            return False
    _record(file, [(line, change) for line, change in lines if change in made])
    return True


def _operations(changes: Iterable[Change]) -> tuple[Operation, ...]:
    return tuple(operation for change in changes for operation in change.operations)


def _sound(file: _File, changes: Sequence[Change]) -> list[Change]:
    """Of changes that together leave no Python behind those that do, found by halves; the others are noted."""
    if len(changes) > 1:
        middle = len(changes) // 2
        halves = (changes[:middle], changes[middle:])
        return [c for half in halves for c in (half if _tried(file, _operations(half)) else _sound(file, half))]
    (change,) = changes
    file.refused.add((change.pattern, ast.dump(change.node)))
    line = file.line(change.node)
    what = "cannot be rewritten here without breaking the file; change it by hand, and please report it"
    file.notes.setdefault((change.pattern, line), Note(line, change.pattern, what))
    return []


def _record(file: _File, lines: Iterable[tuple[int, Change]]) -> None:
    for line, change in lines:
        kind = "safe" if change.safe else "unsafe"
        file.edits.append(Edit(line, change.pattern, change.message, kind))
        if change.left:
            file.notes.setdefault((change.pattern, line), Note(line, change.pattern, change.left))


def _apply(file: _File, operations: tuple[Operation, ...]) -> bool:
    """Whether the operations could be made; where they leave no Python, the file is as it was."""
    tried = _tried(file, operations) if operations else None
    if tried is None:
        return False
    _take(file, *tried)
    return True


def _tried(file: _File, operations: tuple[Operation, ...]) -> tuple[str, ast.Module] | None:
    """What the operations make of a file; None where that is nothing new, or no Python."""
    from neuronlint.migrate.rewriting import RewriteError, rewritten

    try:
        text = rewritten(file.text, operations)
        return (text, _parsed(file.path, text)) if text != file.text else None
    except (RewriteError, UnreadableError):
        return None


def _take(file: _File, text: str, module: ast.Module) -> None:
    file.origins = origins(file.text.split("\n"), text.split("\n"), file.origins)
    file.text, file.module, file.changed = text, module, True


# fixes of the linter's own


def _mend(file: _File, journey: Journey, read: Read) -> None:
    """Makes the fixes that the linter's rules know for what the file has become."""
    for _ in range(ROUNDS):
        found = check_tree(file.path, file.text, file.module, journey.stack, read).findings
        fixable = [f for f in found if f.fix and f.fix.edits and (f.fix.safe or journey.unsafe) and not f.unless]
        chosen = [fixable[place] for place in together([f.fix.edits for f in fixable if f.fix])]
        if not chosen or not (_mended(file, chosen) or any(_mended(file, [finding]) for finding in chosen)):
            return


def _mended(file: _File, findings: Sequence[Finding]) -> bool:
    """Whether the fixes of findings could be made, all of them."""
    fixes = [(file.of(finding), finding.code, finding.message, finding.fix) for finding in findings if finding.fix]
    edits = dict.fromkeys(edit for _, _, _, fix in fixes for edit in fix.edits)
    try:
        text = Document.of(file.text).edited(edits).decode()
        module = _parsed(file.path, text)
    except (EditError, UnreadableError, SyntaxError):
        return False
    if text == file.text:
        return False
    _take(file, text, module)
    for line, code, message, fix in fixes:
        file.edits.append(Edit(line, _pattern(code), f"{message}: {fix.message}", "safe" if fix.safe else "unsafe"))
    return True


# what remains


def _judged(files: Mapping[str, _File], journey: Journey, read: Read, packages: frozenset[str]) -> dict[str, FilePlan]:
    """The plans of all files: what the linter still finds in what they have become is left to a person."""
    results = {path: check_tree(path, file.text, file.module, journey.stack, read) for path, file in files.items()}
    left: dict[str, list[Finding]] = {}
    for finding in resolved(results, packages):
        if finding.span is not None:
            left.setdefault(finding.span.path, []).append(finding)
    return {path: _planned(file, left.get(path, []), journey.annotate) for path, file in files.items()}


def _planned(file: _File, findings: Sequence[Finding], annotate: bool) -> FilePlan:
    severe = [f for f in findings if f.severity is not Severity.INFO and f.code != ANNOTATION]
    for finding in severe:
        line = file.of(finding)
        if finding.code == CUDA_ONLY and any(note.line == line for note in file.notes.values()):
            continue  # what is left of torch.cuda is told by its own pattern
        kind = "consent" if finding.fix and not finding.fix.safe else "person"
        kind = "blocked" if finding.code.startswith("NRN4") and finding.severity is Severity.ERROR else kind
        said = f"{finding.message}{f'; {finding.help}' if finding.help else ''} ({finding.code})"
        pattern = _pattern(finding.code)
        file.notes.setdefault((pattern, line), Note(line, pattern, said, kind))
    if annotate and file.notes:
        text = annotated(file.text, file.module, file.notes.values(), file.origins)
        if text != file.text and ast.dump(_parsed(file.path, text)) == ast.dump(file.module):
            _take(file, text, file.module)
    return FilePlan(
        file.path,
        file.document.data,
        file.document.written(file.text, file.origins) if file.changed else file.document.data,
        tuple(sorted(file.document.placed(file.edits), key=_order)),
        tuple(sorted(file.document.placed(file.notes.values()), key=_order)),
        errors=sum(finding.severity is Severity.ERROR for finding in severe),
        warnings=sum(finding.severity is Severity.WARNING for finding in severe),
    )


def _order(item: Edit | Note) -> tuple[int, int, str, str]:
    return item.cell, item.line, item.id, item.message


def _pattern(code: str) -> str:
    """The pattern of the catalogue that a rule reports, the rule's own code where it has none."""
    from neuronlint.knowledge.checks import check

    return next(iter(check(code).patterns), code)
