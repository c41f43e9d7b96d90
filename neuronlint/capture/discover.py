"""Models in a file, in the order of the contract: settings, functions that give them, `nn.Module` subclasses."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from neuronlint.capture.locations import definition_of
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Span


@dataclass
class Candidate:
    """A model to capture. `build` returns the model, or a model with its inputs; it runs the user's code.

    An empty `name` leaves the naming to the model's class.

    `args` and `kwargs` are example inputs where they are known before the model is built.
    """

    name: str
    build: Callable[[], Any]
    definition: Span | None = None
    args: tuple[Any, ...] | None = None
    kwargs: Mapping[str, Any] | None = None
    inputs: tuple[str, ...] = ()


def import_file(path: str) -> ModuleType:
    """The file as a module, with its folder first on the path, as when it is run as a script."""
    file = Path(path).resolve()
    sys.path.insert(0, str(file.parent))
    package_root = file.parent
    while (package_root / "__init__.py").exists():
        package_root = package_root.parent
    if package_root != file.parent:  # part of a package: relative imports must work
        sys.path.insert(0, str(package_root))
        return importlib.import_module(
            ".".join(file.relative_to(package_root).with_suffix("").parts).removesuffix(".__init__")
        )
    spec = importlib.util.spec_from_file_location(file.stem.replace(".", "_"), file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GIVING = ("neuronlint_models", "build", "get_model")
"""Functions by which a file gives its models."""


def is_for_models(path: str) -> bool:
    """Whether a file is written to give models: by a function for it, or as a module of classes that is no script."""
    body = ast.parse(Path(path).read_bytes()).body
    if any(isinstance(node, ast.FunctionDef) and node.name in GIVING for node in body):
        return True
    is_script = any(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in body)
    bases = [ast.unparse(base) for node in body if isinstance(node, ast.ClassDef) for base in node.bases]
    return not is_script and any(base.endswith("Module") for base in bases)


def from_reference(reference: str, inputs: tuple[str, ...]) -> Candidate:
    """The model named by `MODULE:ATTR`, where ATTR is a name or an expression over the module's names.

    Raises `ConfigurationError` where the module or the name does not exist.
    """
    module_name, _, expression = reference.partition(":")
    if not expression:
        raise ConfigurationError(f"--model {reference!r}: write it as MODULE:ATTR, such as torchvision.models:resnet50")
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"--model {reference!r}: cannot import `{error.name}`; install it, or check the name"
        ) from None
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise ConfigurationError(f"--model {reference!r}: {error.msg} in `{expression}`") from None
    first = next((node.id for node in ast.walk(tree) if isinstance(node, ast.Name)), None)
    if isinstance(tree.body, (ast.Name, ast.Attribute)) and first is not None and not hasattr(module, first):
        raise ConfigurationError(f"--model {reference!r}: `{module_name}` has no `{first}`")

    def build() -> Any:
        target = eval(compile(tree, f"<{reference}>", "eval"), {}, _Names(module))  # noqa: S307 - the user's own expression
        if isinstance(target, torch.nn.Module):
            return target
        if inspect.isclass(target) and issubclass(target, torch.nn.Module):
            return construct(target, module)
        return target() if callable(target) else target

    return Candidate("", build, inputs=inputs)


class _Names(dict[str, Any]):
    """A module's names, looked up when asked, since some packages import lazily."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__()
        self.module = module

    def __missing__(self, name: str) -> Any:
        try:
            return getattr(self.module, name)
        except AttributeError:
            raise KeyError(name) from None


def candidates(module: ModuleType, path: str, settings: tuple[Mapping[str, Any], ...]) -> list[Candidate]:
    """The models of an imported file: the first way of the contract that finds one."""
    for find in (_from_settings(settings), _from_functions, _from_classes):
        if found := list(find(module, path)):
            return found
    return []


def _from_settings(settings: tuple[Mapping[str, Any], ...]) -> Callable[[ModuleType, str], Iterator[Candidate]]:
    def find(module: ModuleType, path: str) -> Iterator[Candidate]:
        for entry in settings:
            if Path(entry["path"]).resolve() != Path(path).resolve():
                continue
            factory = entry["factory"]
            if not hasattr(module, factory):
                raise ConfigurationError(f"{path}: the settings name a factory `{factory}` that the file does not have")
            target = getattr(module, factory)
            kwargs = dict(entry.get("kwargs", {}))
            yield Candidate(factory, partial(target, **kwargs), definition_of(target),
                            inputs=tuple(entry.get("inputs", ())))  # fmt: skip

    return find


def _from_functions(module: ModuleType, path: str) -> Iterator[Candidate]:
    if callable(listing := getattr(module, GIVING[0], None)):
        for index, (name, model, args, kwargs) in enumerate(listing()):
            where = definition_of(type(model)) if isinstance(model, torch.nn.Module) else definition_of(listing)
            yield Candidate(str(name), partial(_listed, listing, index), where, tuple(args), dict(kwargs))
        return
    for name in GIVING[1:]:
        factory = getattr(module, name, None)
        if (
            callable(factory)
            and not inspect.isclass(factory)
            and factory.__module__ == module.__name__
            and not _required(factory)
        ):
            example = _example_function(module)
            yield Candidate("", partial(_with_example, factory, example), definition_of(factory))
            return


def _listed(listing: Callable[[], Any], index: int) -> Any:
    """The model at a place of the listing, made anew, or what a factory there makes."""
    model = next(islice(listing(), index, None))[1]
    return model if isinstance(model, torch.nn.Module) or not callable(model) else model()


def _example_function(module: ModuleType) -> Callable[[], Any] | None:
    for name in ("example_inputs", "get_example_inputs"):
        function = getattr(module, name, None)
        if callable(function) and not _required(function):
            return function  # type: ignore[no-any-return]
    return None


def _with_example(make: Callable[[], Any], example: Callable[[], Any] | None) -> Any:
    built = make()
    return built if isinstance(built, tuple) or example is None else (built, example())


def _from_classes(module: ModuleType, path: str) -> Iterator[Candidate]:
    classes = [
        value for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, torch.nn.Module) and value.__module__ == module.__name__
    ]  # fmt: skip
    used = _used_inside(path, {cls.__name__ for cls in classes})
    chosen = [cls for cls in classes if cls.__name__ == "Model"] or [cls for cls in classes if cls.__name__ not in used]
    example = _example_function(module)
    for cls in chosen:
        yield Candidate(
            cls.__name__, partial(_with_example, partial(construct, cls, module), example), definition_of(cls)
        )


def _used_inside(path: str, names: set[str]) -> set[str]:
    """Classes that another class of the file builds, names in its annotations left out, or derives from."""
    tree = ast.parse(Path(path).read_bytes())
    used: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or node.name not in names:
            continue
        inner = [n for part in (*node.bases, *node.body) for n in ast.walk(part)]
        called = {n.func.id for n in inner if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
        passed = {a.id for n in inner if isinstance(n, ast.Call) for a in n.args if isinstance(a, ast.Name)}
        used |= (called | bases | passed) & names - {node.name}
    return used


def _required(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    open_kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in parameters if p.default is p.empty and p.kind not in open_kinds]


def construct(cls: type[torch.nn.Module], module: ModuleType) -> torch.nn.Module:
    """An instance of a module class with its defaults.

    Arguments without one come from calls of the class in the file, from a configuration dataclass that the
    annotation names, and from plain annotations. Raises `ConfigurationError` naming those left over.
    """
    missing = _required(cls)
    if not missing:
        return cls()
    source = getattr(module, "__file__", None)
    if source and (call := _call_in_file(cls.__name__, source, module)) is not None:
        args, kwargs = call
        return cls(*args, **kwargs)
    values: dict[str, Any] = {}
    hints = _hints(cls)
    for parameter in missing:
        found, value = _value_for(parameter.name, hints.get(parameter.name, parameter.annotation), module)
        if not found:
            raise ConfigurationError(
                f"`{cls.__name__}` needs the argument `{parameter.name}`; "
                "add a function build() that returns the model and its inputs"
            )
        values[parameter.name] = value
    return cls(**values)


def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(vars(cls).get("__init__", object))
    except Exception:  # annotations are the user's code and may raise anything
        return {}


_COMMON_SIZES = {"num_classes": 10, "n_classes": 10, "vocab_size": 1000, "num_layers": 2, "n_layers": 2, "depth": 2,
                 "num_heads": 4, "n_heads": 4, "heads": 4, "in_channels": 3, "kernel_size": 3}  # fmt: skip


def _value_for(name: str, annotation: Any, module: ModuleType) -> tuple[bool, Any]:
    if inspect.isclass(annotation) and annotation is not inspect.Parameter.empty:
        if dataclasses.is_dataclass(annotation) or (not _required(annotation) and annotation.__module__ != "builtins"):
            return (True, annotation()) if not _required(annotation) else (False, None)
        if annotation is int:
            return True, _COMMON_SIZES.get(name, 64)
        if annotation in (float, bool):
            return True, annotation()
    if annotation is inspect.Parameter.empty and ("config" in name.lower() or name in ("cfg", "args", "params")):
        for value in vars(module).values():
            if inspect.isclass(value) and dataclasses.is_dataclass(value) and not _required(value):
                return True, value()
    if annotation is inspect.Parameter.empty and name in _COMMON_SIZES:
        return True, _COMMON_SIZES[name]
    return False, None


def _call_in_file(name: str, path: str, module: ModuleType) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call `Name(...)` written in the file, where they can be evaluated over its globals."""
    for node in ast.walk(ast.parse(Path(path).read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            try:
                args = [_evaluate(arg, module) for arg in node.args]
                return args, {k.arg: _evaluate(k.value, module) for k in node.keywords if k.arg is not None}
            except Exception:  # noqa: S112 - an argument that is local to a function: try the next call
                continue
    return None


def _evaluate(node: ast.expr, module: ModuleType) -> Any:
    if any(isinstance(part, ast.Starred) for part in ast.walk(node)):
        raise ValueError("starred")
    return eval(compile(ast.Expression(node), module.__name__, "eval"), dict(vars(module)))  # noqa: S307 - the user's own file
