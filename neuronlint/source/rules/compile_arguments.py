"""What `torch.compile` is told: a backend, a mode or options that are not the chip's, or that it is called at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Fix, Severity
from neuronlint.source.compiling import compilations, given, is_guarded
from neuronlint.source.edits import with_keyword, without_keyword
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import in_test
from neuronlint.source.reach import Reach, reach
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import constant
from neuronlint.stack import Stack

_UNCOMPILED = ("eager", "aot_eager")
"""Backends that compile nothing, so that a device of any kind runs under them."""
_DEFAULT = "it is Inductor, which does not compile for the chip, unless TorchNeuron steps in"


class CompileArguments(SourceRule):
    code = "NRN712"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for node, call in compilations(file):
            if is_guarded(file, node):
                continue
            if stack.frontend == "xla":
                if constant(given(call, "backend")) not in _UNCOMPILED and not in_test(file, node):
                    severity = Severity.WARNING if reach(file, node) is Reach.UNCALLED else None
                    if severity is not None and _is_handed_over(file, call):
                        continue
                    text = file.tree.brief(node)
                    yield self.at(file, node, stack, severity=severity, text=text, what="is not supported")
            else:
                yield from self._native(file, node, call, stack)
        yield from self._settings(file, stack)

    def _native(self, file: SourceFile, node: ast.AST, call: ast.Call | None, stack: Stack) -> Iterator[Finding]:
        """The backend, the mode and the options of one compilation."""
        told = call is not None and any(item.arg is None for item in call.keywords)
        backend = given(call, "backend")
        name = constant(backend)
        mode = given(call, "mode")
        tuned = mode is not None and constant(mode) in table("compile")["modes"]
        if (backend is None and not told and not tuned) or name in table("compile")["backends"]:
            yield self._backend(file, node, call, stack, name)
        if call is not None and mode is not None and tuned:
            edit = without_keyword(file, call, "mode")
            yield self.at(
                file,
                mode,
                stack,
                severity=Severity.WARNING,
                text=f"mode={file.tree.segment(mode, 40)}",
                what="is ignored",
                then="only the default mode applies; the others log a warning",
                advice="take it out" if backend is not None else 'take it out and say `backend="neuron"`',
                fix=Fix("take the mode out", (edit,)) if edit is not None else None,
            )
        options = given(call, "options")
        if call is not None and isinstance(options, ast.Dict) and _is_inductors(options):
            edit = without_keyword(file, call, "options")
            yield self.at(
                file,
                options,
                stack,
                severity=Severity.WARNING,
                text=f"options={file.tree.segment(options, 40)}",
                what="is ignored",
                then="the chip's backend reads none of these keys",
                advice="take it out",
                fix=Fix("take the options out", (edit,)) if edit is not None else None,
            )

    def _backend(self, file: SourceFile, node: ast.AST, call: ast.Call | None, stack: Stack, name: object) -> Finding:
        edit = with_keyword(file, call, "backend", '"neuron"') if call is not None else None
        return self.at(
            file,
            node,
            stack,
            severity=Severity.WARNING if name is None else Severity.ERROR,
            text=file.tree.brief(node),
            what="names no backend" if name is None else f"has the backend {name}",
            then=_DEFAULT if name is None else "it does not compile for the chip",
            fix=Fix("name the backend", (edit,), safe=False) if edit is not None else None,
        )

    def _settings(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """Settings of Inductor, and the old name of Dynamo's limit."""
        if not any(word in file.text for word in ("_inductor", "_dynamo.config")):
            return
        for assign in file.tree.of(ast.Assign):
            for target in assign.targets:
                for row in table("compile")["settings"]:
                    if any(name.startswith(row["prefix"]) for name in file.names.of(target)):
                        yield self.at(
                            file,
                            assign,
                            stack,
                            severity=Severity.INFO,
                            confidence=Confidence.HIGH,
                            text=file.tree.segment(target, 50),
                            what=row["what"],
                            then=row["then"],
                            advice=row["help"],
                        )


def _is_handed_over(file: SourceFile, call: ast.Call | None) -> bool:
    """Whether a helper compiles a function that it is given, as it is told: whoever calls it decides."""
    compiled = call.args[0] if call is not None and call.args else None
    told = call is not None and any(item.arg is None for item in call.keywords)
    if not told or not isinstance(compiled, ast.Name):
        return False
    return any(binding.how == "parameter" for binding in file.scopes.lookup(compiled.id, compiled)[1])


def _is_inductors(options: ast.Dict) -> bool:
    keys = [constant(key) for key in options.keys]
    return bool(keys) and all(isinstance(key, str) and key not in table("compile")["options"] for key in keys)
