"""The small expression language of the `when` column of `rules/`: conditions on an operator call, as data.

An expression is a subset of Python's, parsed once and evaluated over a call's schema arguments:

    alpha != 1 or beta != 1
    any(d != 1 for d in dilation)
    self.shape[-1] % output_size[-1] != 0
    self.dtype in ('int32', 'int64') and k > 16384

Names are the arguments of the overload's schema, `outputs` (the result tensors), `tensors` (all tensor operands)
and the functions below. Tensors have the attributes of `call.TensorMeta`. A name that the call lacks is None.
An operand that is None, or a dimension of unknown size, makes a comparison with it false rather than an error.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from math import prod
from typing import Any

from neuronlint.call import OperatorCall, TensorMeta

Environment = Mapping[str, Any]
Evaluator = Callable[[Environment], Any]


class PredicateError(ValueError):
    """An expression that is not of the language: the message says which part."""


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


def _dims(value: Any) -> tuple[Any, ...]:
    """A scalar or list argument as a tuple, as operators take either."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (tuple, range)) else (value,)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "any": any, "all": all, "len": len, "min": min, "max": max, "sum": sum, "abs": abs, "prod": prod,
    "zip": lambda *values: tuple(zip(*values, strict=False)), "range": range, "set": frozenset, "dims": _dims,
    "is_tensor": lambda value: isinstance(value, TensorMeta),
    "is_number": lambda value: isinstance(value, (int, float)),
    "isinf": lambda value: isinstance(value, float) and value in (float("inf"), float("-inf")),
    "startswith": lambda value, prefix: isinstance(value, str) and value.startswith(prefix),
}  # fmt: skip
_ATTRIBUTES = frozenset(
    ("dtype", "shape", "stride", "origin", "rank", "numel", "nbytes", "is_static", "is_float", "is_int", "is_bool",
     "is_complex", "contiguous")
)  # fmt: skip


def environment(call: OperatorCall) -> dict[str, Any]:
    """The names that an expression sees of a call."""
    return {**call.arguments, "outputs": call.outputs, "tensors": tuple(call.tensors())}


@lru_cache(maxsize=4096)
def compile_predicate(expression: str) -> Callable[[Environment], bool]:
    """A function that tells whether `expression` holds in an environment.

    Raises `PredicateError` where the expression is not of the language.
    """
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise PredicateError(f"{expression!r}: {error.msg}") from None
    evaluate = _build(tree.body, expression)

    def holds(env: Environment) -> bool:
        try:
            return bool(evaluate(env))
        except (TypeError, IndexError, ZeroDivisionError):  # a None operand or a dimension of unknown size
            return False

    return holds


def matches(expression: str | None, call: OperatorCall) -> bool:
    """Whether a condition holds for a call; no condition always holds."""
    return expression is None or compile_predicate(expression)(environment(call))


def _build(node: ast.expr, source: str) -> Evaluator:  # noqa: C901 - one case a kind of node
    match node:
        case ast.Constant(value=value):
            return lambda env: value
        case ast.Name(id=name):
            return lambda env: env.get(name)
        case ast.Attribute(value=base, attr=attr) if attr in _ATTRIBUTES:
            inner = _build(base, source)
            return lambda env: getattr(inner(env), attr, None)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = [_build(part, source) for part in elts]
            return lambda env: tuple(part(env) for part in parts)
        case ast.Subscript(value=base, slice=index):
            return _build_subscript(_build(base, source), index, source)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _build(operand, source)
            return lambda env: not inner(env)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _build(operand, source)
            return lambda env: -inner(env)
        case ast.BoolOp(op=op, values=values):
            parts = [_build(part, source) for part in values]
            if isinstance(op, ast.And):
                return lambda env: all(_truth(part, env) for part in parts)
            return lambda env: any(_truth(part, env) for part in parts)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            a, b, apply = _build(left, source), _build(right, source), _BINARY[type(op)]
            return lambda env: apply(a(env), b(env))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            when, then, other = (_build(part, source) for part in (test, body, orelse))
            return lambda env: then(env) if when(env) else other(env)
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(op) in _COMPARE for op in ops):
            return _build_compare(left, ops, comparators, source)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            function, parts = _FUNCTIONS[name], [_build(part, source) for part in args]
            return lambda env: function(*(part(env) for part in parts))
        case ast.GeneratorExp(elt=elt, generators=[ast.comprehension(target=target, iter=over, ifs=ifs, is_async=0)]):
            return _build_generator(elt, target, over, ifs, source)
    raise PredicateError(f"{source!r}: {type(node).__name__} is not part of the predicate language")


def _truth(part: Evaluator, env: Environment) -> bool:
    """A clause that cannot be evaluated is false, and leaves the rest of an `or` to decide."""
    try:
        return bool(part(env))
    except (TypeError, IndexError, ZeroDivisionError):
        return False


def _build_subscript(base: Evaluator, index: ast.expr, source: str) -> Evaluator:
    if isinstance(index, ast.Slice):
        bounds = [None if b is None else _build(b, source) for b in (index.lower, index.upper, index.step)]
        return lambda env: base(env)[slice(*(None if b is None else b(env) for b in bounds))]
    at = _build(index, source)
    return lambda env: base(env)[at(env)]


def _build_compare(left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], source: str) -> Evaluator:
    first, rest = _build(left, source), [_build(part, source) for part in comparators]
    tests = [_COMPARE[type(op)] for op in ops]

    def evaluate(env: Environment) -> bool:
        value = first(env)
        for test, part in zip(tests, rest, strict=True):
            other = part(env)
            if not test(value, other):
                return False
            value = other
        return True

    return evaluate


def _build_generator(elt: ast.expr, target: ast.expr, over: ast.expr, ifs: list[ast.expr], source: str) -> Evaluator:
    if isinstance(target, ast.Name):
        names = [target.id]
    elif isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
        names = [part.id for part in target.elts if isinstance(part, ast.Name)]
    else:
        raise PredicateError(f"{source!r}: a generator binds names only")
    items, body, conditions = _build(over, source), _build(elt, source), [_build(part, source) for part in ifs]
    single = isinstance(target, ast.Name)

    def evaluate(env: Environment) -> Iterator[Any]:
        for item in _dims(items(env)):
            inner = {**env, **dict(zip(names, (item,) if single else item, strict=True))}
            if all(condition(inner) for condition in conditions):
                yield body(inner)

    return evaluate
