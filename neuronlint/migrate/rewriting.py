"""Makes the operations of codemods in a file with libcst: what they do not name stays as it is, byte for byte."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from neuronlint.migrate.operations import (
    AddImport,
    After,
    Before,
    DropAlias,
    DropArgument,
    DropDecorator,
    DropEntry,
    Operation,
    Remove,
    RenameArgument,
    Replace,
    SetArgument,
    Unwrap,
    UnwrapWith,
)

Item = TypeVar("Item", cst.Arg, cst.DictElement | cst.StarredDictElement, cst.ImportAlias)
_Place = tuple[int, int, int, int]
_Statement = cst.BaseStatement | cst.SimpleStatementLine
_ON_EXPRESSIONS = (Replace, SetArgument, RenameArgument, DropArgument, DropEntry, DropDecorator)

_GONE = cst.Pass()
"""Stands for a statement that is taken out, until its block has taken over the comments above it."""


class RewriteError(Exception):
    """A file that libcst cannot parse, or operations that it cannot make."""


def rewritten(text: str, operations: Iterable[Operation]) -> str:
    """The file's text after the operations. Raises `RewriteError`."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        return wrapper.visit(_Rewriter(text, tuple(operations))).code
    except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
        raise RewriteError(str(error).splitlines()[0]) from None


def _place(lines: Sequence[str], node: ast.expr | ast.stmt) -> _Place:
    """Where a node is, as libcst counts: lines from 1, columns in characters from 0."""

    def column(line: int, offset: int) -> int:
        text = lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))

    end, last = node.end_lineno or node.lineno, node.end_col_offset or 0
    return node.lineno, column(node.lineno, node.col_offset), end, column(end, last)


class _Rewriter(cst.CSTTransformer):
    """Finds the nodes that operations name by their places in the text."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, text: str, operations: Sequence[Operation]) -> None:
        super().__init__()
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._lines = lines
        self._expressions: dict[_Place, list[Operation]] = {}
        self._small: dict[_Place, list[Operation]] = {}
        self._compound: dict[tuple[int, int], list[Operation]] = {}
        self._imports = sorted({o.text for o in operations if isinstance(o, AddImport)})
        self._config: Any = None
        self._arms: set[cst.If] = set()
        for operation in operations:
            if isinstance(operation, AddImport):
                continue
            place = _place(lines, operation.node)
            if isinstance(operation, _ON_EXPRESSIONS):
                self._expressions.setdefault(place, []).append(operation)
            elif isinstance(operation.node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                self._compound.setdefault(place[:2], []).append(operation)
            else:
                self._small.setdefault(place, []).append(operation)

    def _at(self, node: cst.CSTNode) -> _Place:
        where = cast("Any", self.get_metadata(PositionProvider, node))
        return where.start.line, where.start.column, where.end.line, where.end.column

    def visit_Module(self, node: cst.Module) -> None:
        self._config = node.config_for_parsing

    def on_leave(self, original: cst.CSTNodeT, updated: cst.CSTNodeT) -> Any:
        changed: Any = super().on_leave(original, updated)
        if isinstance(original, cst.BaseExpression) and isinstance(changed, cst.BaseExpression):
            for operation in self._expressions.get(self._at(original), ()):
                changed = self._expression(operation, original, changed)
        return changed

    # expressions

    def _expression(self, operation: Operation, original: cst.BaseExpression, now: cst.BaseExpression) -> Any:
        if isinstance(operation, Replace):
            lines = "\n" in operation.text  # what takes several lines stands in brackets, its own or those around it
            new = cst.parse_expression(f"({operation.text})" if lines else operation.text, config=self._config)
            return new.with_changes(lpar=now.lpar, rpar=now.rpar) if now.lpar or lines else new
        if isinstance(now, cst.Call) and isinstance(original, cst.Call):
            return self._call(operation, original, now)
        if isinstance(operation, DropEntry) and isinstance(now, cst.Dict) and isinstance(original, cst.Dict):
            wanted = _place(self._lines, operation.value)
            values = [item.value for item in original.elements]
            index = next(i for i, value in enumerate(values) if self._at(value) == wanted)
            return now.with_changes(elements=_without(now.elements, index))
        return now

    def _call(self, operation: Operation, original: cst.Call, now: cst.Call) -> cst.Call:
        if isinstance(operation, DropArgument):
            wanted = _place(self._lines, operation.value)
            index = next((i for i, arg in enumerate(original.args) if self._at(arg.value) == wanted), None)
            if index is None:
                return now
            keyword = original.args[index].keyword
            if keyword is not None:  # others of the call may have been added or taken out before
                index = next(i for i, a in enumerate(now.args) if a.keyword and a.keyword.value == keyword.value)
            return now.with_changes(args=_without(now.args, index))
        if not isinstance(operation, (SetArgument, RenameArgument)):
            return now
        index = next((i for i, a in enumerate(now.args) if a.keyword and a.keyword.value == operation.name), None)
        if isinstance(operation, RenameArgument):
            if index is None:
                return now
            return _with_argument(now, index, now.args[index].with_changes(keyword=cst.Name(operation.new)))
        value = cst.parse_expression(operation.text, config=self._config)
        if index is not None:
            return _with_argument(now, index, now.args[index].with_changes(value=value))
        return _appended(now, cst.Arg(value, cst.Name(operation.name), equal=_tight()))

    # statements

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> Any:
        asked = self._expressions.get(self._at(original_node.decorator), ())
        gone = any(isinstance(operation, DropDecorator) for operation in asked)
        return cst.RemovalSentinel.REMOVE if gone else updated_node

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> Any:
        return self._import(original_node, updated_node)

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> Any:
        return self._import(original_node, updated_node)

    def _import(self, original: cst.Import | cst.ImportFrom, now: Any) -> Any:
        for operation in self._small.get(self._at(original), ()):
            if isinstance(operation, DropAlias) and not isinstance(now.names, cst.ImportStar):
                names = list(now.names)
                index = next((i for i, a in enumerate(names) if _bound(a) == operation.name), None)
                if index is not None and len(names) > 1:  # the last one goes with its statement
                    now = now.with_changes(names=_without(names, index))
        return now

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> Any:
        before, after, gone = [], [], set()
        for place, small in enumerate(original_node.body):
            for operation in self._small.get(self._at(small), ()):
                if isinstance(operation, Remove):
                    gone.add(place)
                elif isinstance(operation, After):
                    after.append(self._statement(operation.text))
                elif isinstance(operation, Before):
                    before.append(self._statement(operation.text))
        kept = [small for place, small in enumerate(updated_node.body) if place not in gone]
        if len(kept) < len(updated_node.body):
            last = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT) if kept else None
            updated_node = updated_node.with_changes(body=[*kept[:-1], last] if last else [_GONE])
        if not before and not after:
            return updated_node
        if before:
            before[0] = before[0].with_changes(leading_lines=updated_node.leading_lines)
            updated_node = updated_node.with_changes(leading_lines=())
        return cst.FlattenSentinel([*before, updated_node, *after])

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> Any:
        gone = [
            any(isinstance(operation, Remove) for operation in self._small.get(self._at(small), ()))
            for small in original_node.body
        ]
        kept = [small for small, dropped in zip(updated_node.body, gone, strict=True) if not dropped]
        return updated_node.with_changes(body=kept or [cst.Pass()]) if any(gone) else updated_node

    def _statement(self, text: str) -> cst.SimpleStatementLine:
        return cast("cst.SimpleStatementLine", cst.parse_statement(text, config=self._config))

    def visit_If(self, node: cst.If) -> None:
        if isinstance(node.orelse, cst.If):
            self._arms.add(node.orelse)

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        operations = self._compound.get(self._at(original_node)[:2], ())
        if any(isinstance(operation, Unwrap) for operation in operations):
            if original_node in self._arms:
                return cst.Else(updated_node.body, leading_lines=updated_node.leading_lines)
            return _unwrapped(updated_node)
        return self._around(original_node, updated_node)

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> Any:
        return self._around(original_node, updated_node)

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> Any:
        return self._around(original_node, updated_node)

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> Any:
        operations = self._compound.get(self._at(original_node)[:2], ())
        if any(isinstance(operation, UnwrapWith) for operation in operations):
            return _unwrapped(updated_node)
        return self._around(original_node, updated_node)

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> Any:
        return self._around(original_node, updated_node)

    def _around(self, original: cst.BaseCompoundStatement, now: Any) -> Any:
        before: list[Any] = []
        after: list[Any] = []
        for operation in self._compound.get(self._at(original)[:2], ()):
            if isinstance(operation, Remove):
                return cst.SimpleStatementLine([_GONE], leading_lines=now.leading_lines)
            if isinstance(operation, (After, Before)):
                (after if isinstance(operation, After) else before).append(self._statement(operation.text))
        return cst.FlattenSentinel([*before, now, *after]) if before or after else now

    # blocks

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> Any:
        body, footer = _settled(updated_node.body)
        if len(body) == len(updated_node.body):
            return updated_node
        return updated_node.with_changes(body=body, footer=[*footer, *updated_node.footer])

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body, footer = _settled(updated_node.body)
        if len(body) != len(updated_node.body):
            if _is_gone(updated_node.body[0]) and not updated_node.header:
                body[0] = body[0].with_changes(leading_lines=_without_blank(body[0].leading_lines))
            updated_node = updated_node.with_changes(body=body, footer=[*footer, *updated_node.footer])
        for text in self._imports:
            updated_node = _imported(updated_node, self._statement(text))
        return updated_node


def _bound(alias: cst.ImportAlias) -> str:
    """The name that an import gives."""
    if alias.asname is not None:
        return cast("cst.Name", alias.asname.name).value
    name = alias.name
    while isinstance(name, cst.Attribute):
        name = cast("cst.Attribute | cst.Name", name.value)
    return name.value


def _tight() -> cst.AssignEqual:
    return cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _with_argument(call: cst.Call, index: int, new: cst.Arg) -> cst.Call:
    return call.with_changes(args=[*call.args[:index], new, *call.args[index + 1 :]])


def _without(items: Sequence[Item], index: int) -> list[Item]:
    """The items without one: the last of what is left ends as the last one did."""
    kept: list[Any] = [*items[:index], *items[index + 1 :]]
    last = items[index]
    if kept and index == len(items) - 1:
        kept[-1] = kept[-1].with_changes(comma=last.comma)
        if isinstance(last, cst.Arg):
            kept[-1] = kept[-1].with_changes(whitespace_after_arg=last.whitespace_after_arg)
    return kept


def _appended(call: cst.Call, new: cst.Arg) -> cst.Call:
    """A call with one more argument, set off as those before it are."""
    if not call.args:
        return call.with_changes(args=[new])
    *rest, last = call.args
    if isinstance(last.comma, cst.Comma):  # one argument a line, a comma after the last
        between = rest[-1].comma if rest else cst.Comma(whitespace_after=call.whitespace_before_args)
        return call.with_changes(args=[*rest, last.with_changes(comma=between), new.with_changes(comma=last.comma)])
    end = last.whitespace_after_arg
    space = cst.SimpleWhitespace
    last = last.with_changes(comma=cst.Comma(whitespace_after=space(" ")), whitespace_after_arg=space(""))
    return call.with_changes(args=[*rest, last, new.with_changes(whitespace_after_arg=end)])


def _unwrapped(node: cst.If | cst.With) -> Any:
    """The body of an `if` or a `with` as statements of the block around it."""
    if isinstance(node.body, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(node.body.body, node.leading_lines, node.body.trailing_whitespace)
        return cst.FlattenSentinel([line])
    first, *rest = node.body.body
    lines = [*node.leading_lines, *cast("Any", first).leading_lines]
    body = [cast("Any", first).with_changes(leading_lines=lines), *rest]
    footer = cast("cst.IndentedBlock", node.body).footer
    if footer:
        body.append(cst.SimpleStatementLine([_GONE], footer))
    return cst.FlattenSentinel(body)


def _is_gone(statement: Any) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and statement.body[0] is _GONE


def _without_blank(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Lines without the blank ones at their head."""
    first = next((place for place, line in enumerate(lines) if line.comment), len(lines))
    return list(lines[first:])


def _settled(body: Sequence[Any]) -> tuple[list[Any], list[cst.EmptyLine]]:
    """A block without the lines whose statements are gone: the comments above them go to what follows."""
    kept: list[Any] = []
    carried: list[cst.EmptyLine] = []
    for statement in body:
        if _is_gone(statement):
            carried += statement.leading_lines
            continue
        if carried:
            statement = statement.with_changes(leading_lines=_joined(carried, statement.leading_lines))
            carried = []
        kept.append(statement)
    if not kept:
        kept.append(cst.SimpleStatementLine([cst.Pass()], leading_lines=carried))
        carried = []
    return kept, [line for line in carried if line.comment]


def _joined(carried: Sequence[cst.EmptyLine], own: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Comments are kept, blank lines only where nothing else sets the statement off."""
    if any(line.comment for line in carried):
        return [*carried, *own]
    return list(own) if own else list(carried)


def _imported(module: cst.Module, new: cst.SimpleStatementLine) -> cst.Module:
    """The module with an import, below the last one of torch, else below the last import of its head."""
    wanted = module.code_for_node(new.body[0])
    best = after = 0
    for number, statement in enumerate(module.body):
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        first = statement.body[0]
        if isinstance(first, (cst.Import, cst.ImportFrom)):
            code = module.code_for_node(first)
            if code == wanted:
                return module
            after = number + 1
            if code.startswith(("import torch", "from torch")):
                best = number + 1
        elif number == 0 and isinstance(first, cst.Expr):
            after = 1
    place = best or after
    body = list(module.body)
    if place == 0 and module.header:
        return module.with_changes(body=[new, *body])
    return module.with_changes(body=[*body[:place], new, *body[place:]])
