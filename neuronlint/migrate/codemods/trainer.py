"""Arguments of Hugging Face's Trainer and of accelerate; on PyTorch/XLA the classes of optimum-neuron."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import (
    AddImport,
    DropAlias,
    DropArgument,
    Operation,
    Remove,
    RenameArgument,
    Replace,
    SetArgument,
)
from neuronlint.migrate.spelling import in_order, is_statement
from neuronlint.source.file import SourceFile
from neuronlint.source.literals import is_false
from neuronlint.source.tree import constant, dotted, keyword

_ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
_OTHERS = {"eval_dataset", "compute_metrics", "preprocess_logits_for_metrics"}
_EVALUATION = {
    "eval_strategy", "evaluation_strategy", "per_device_eval_batch_size", "eval_steps", "load_best_model_at_end",
    "metric_for_best_model", "do_eval", "greater_is_better",
}  # fmt: skip


def trainer_arguments(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls(*_ARGUMENTS)):
        half = keyword(call, "fp16")
        if half is not None and not is_false(half) and keyword(call, "bf16") is None:
            what = "is `bf16`: the chip computes in bfloat16"
            yield Change("HF002", half, what, (RenameArgument(call, "fp16", "bf16"),))
        tf32 = keyword(call, "tf32")
        if tf32 is not None:
            yield Change("HF002", tf32, "goes: only CUDA has it", (DropArgument(call, tf32),))
    for call in in_order(file.names.calls("accelerate.Accelerator")):
        precision = keyword(call, "mixed_precision")
        if constant(precision) == "fp16":
            what = "is `bf16`: the chip computes in bfloat16"
            yield Change("AC002", call, what, (SetArgument(call, "mixed_precision", '"bf16"'),))
    if not journey.is_native:
        yield from _optimum(file)


def _optimum(file: SourceFile) -> Iterator[Change | Remark]:
    """`Trainer` and `TrainingArguments` as optimum-neuron has them, without evaluation, which it lacks."""
    plain = {"Trainer": "NeuronTrainer", "TrainingArguments": "NeuronTrainingArguments"}
    for node in file.tree.of(ast.ImportFrom):
        if node.module != "transformers" or node not in file.module.body:
            continue
        taken = [alias.name for alias in node.names if alias.name in plain and not alias.asname]
        uses = [name for name in file.tree.of(ast.Name) if name.id in taken]
        derived = [use.id for use in uses if isinstance(file.tree.parent(use), ast.ClassDef)]
        for name in dict.fromkeys(derived):
            what = f"a class derives from `{name}`, which `{plain[name]}` does not: port it by hand"
            yield Remark("HF001", node, what)
        if not taken or derived:
            continue
        whole = len(taken) == len(node.names)
        gone: list[Operation] = [Remove(node)] if whole else [DropAlias(node, name) for name in taken]
        new = AddImport(f"from optimum.neuron import {', '.join(plain[name] for name in taken)}")
        what = f"is {' and '.join(f'`{plain[name]}`' for name in taken)} of optimum-neuron"
        yield Change("HF001", node, what, (*gone, new, *(Replace(use, plain[use.id]) for use in uses)))
    for call in in_order(list(file.names.calls_like(("optimum.neuron.Neuron*",)))):
        for given in call.keywords:
            if given.arg in _OTHERS | _EVALUATION:
                what = f"`{given.arg}` goes: optimum-neuron's trainer does not evaluate; evaluate the saved model apart"
                yield Change("HF001", given.value, what, (DropArgument(call, given.value),))
    trainers = {dotted(a.targets[0]) for a in file.tree.of(ast.Assign) if _makes_trainer(file, a)}
    for call in in_order(file.names.methods("evaluate", "predict")):
        owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        statement = is_statement(file, call) or _printed(file, call)
        if owner in trainers and statement is not None:
            what = "goes: optimum-neuron's trainer does not evaluate; evaluate the saved model apart"
            yield Change("HF001", call, what, (Remove(statement),))


def _makes_trainer(file: SourceFile, assign: ast.Assign) -> bool:
    value = assign.value
    return isinstance(value, ast.Call) and file.names.is_any(value.func, ("optimum.neuron.NeuronTrainer",))


def _printed(file: SourceFile, call: ast.Call) -> ast.stmt | None:
    """`print(trainer.evaluate())` whole."""
    up = file.tree.parent(call)
    shown = isinstance(up, ast.Call) and dotted(up.func) == "print" and len(up.args) == 1
    return is_statement(file, up) if shown and up is not None else None
