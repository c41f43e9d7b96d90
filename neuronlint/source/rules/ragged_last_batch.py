"""Training loaders that keep a smaller last batch, whose shape is compiled again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Fix, Severity
from neuronlint.source.edits import with_keyword
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.loader_use import use
from neuronlint.source.loaders import loaders
from neuronlint.source.ragged import cuts_slices, in_tests, is_ragged, uneven_step
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.trainers import DROP, SIZE, uneven
from neuronlint.stack import Stack


class RaggedLastBatch(SourceRule):
    code = "NRN809"

    def _sliced(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """Batches that a training loop cuts by hand: `x[i : i + size]`."""
        for item in file.passes.training:
            loop = item.micro or item.loop
            ragged = uneven_step(file, loop)
            if ragged is not None and cuts_slices(file, loop) and not isinstance(loop, ast.While):
                yield self.at(
                    file,
                    loop.iter,
                    stack,
                    severity=None if ragged else Severity.INFO,
                    confidence=Confidence.HIGH if ragged else Confidence.MEDIUM,
                    advice="stop at the last whole batch: `range(0, n - n % size, size)`",
                    how="is" if ragged else "may be",
                    name=file.tree.segment(loop.iter, 30),
                )

    def _trainers(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """The arguments of a Trainer, which makes its loader by itself."""
        for call in uneven(file) if SIZE in file.text else ():
            spread = any(item.arg is None for item in call.keywords)
            edit = None if spread else with_keyword(file, call, DROP, "True")
            yield self.at(
                file,
                call,
                stack,
                advice=f"`{DROP}=True`, which drops it in evaluation too; or pad the data set",
                fix=Fix("drop the last batch", (edit,), safe=False) if edit is not None else None,
                how="is",
                name=file.tree.segment(call.func, 40),
            )

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if stays_on_host(file):
            return
        yield from self._sliced(file, stack)
        yield from self._trainers(file, stack)
        for loader in loaders(file):
            ragged = is_ragged(file, loader)
            if ragged is False or (ragged is None and in_tests(file)) or use(file, loader) != "training":
                continue
            fix = Fix("drop the last batch", (with_keyword(file, loader.call, "drop_last", "True"),), safe=False)
            kept = "drop_last" in loader.options and all(item.arg != "drop_last" for item in loader.call.keywords)
            yield self.at(
                file,
                loader.call,
                stack,
                confidence=Confidence.HIGH if ragged else Confidence.MEDIUM,
                fix=None if kept else fix,
                how="is" if ragged else "may be",
                name=loader.name.rsplit(".", 1)[-1] or "DataLoader",
            )
