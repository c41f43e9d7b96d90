"""Which module is running: the stack of `nn.Module` calls, by qualified name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules import module as hooks


class ModuleStack:
    """The modules that are running, innermost last."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._names = {id(module): name for name, module in model.named_modules()}
        self._stack: list[tuple[str, str, int]] = []

    @property
    def depth(self) -> int:
        return len(self._stack)

    @property
    def path(self) -> str:
        """The qualified name of the innermost module, empty for the model itself."""
        return self._stack[-1][0] if self._stack else ""

    @property
    def class_name(self) -> str:
        return self._stack[-1][1] if self._stack else ""

    @contextmanager
    def tracking(self) -> Iterator[None]:
        handles = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
            self._stack.clear()

    def _enter(self, module: torch.nn.Module, args: Any) -> None:
        kind = type(module)
        name = self._names.get(id(module))
        if name is None:  # made during forward: named after the module that made it
            name = f"{self.path}.{kind.__name__}" if self.path else kind.__name__
        self._stack.append((name, f"{kind.__module__}.{kind.__qualname__}", id(module)))

    def _leave(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        while self._stack and self._stack.pop()[2] != id(module):
            pass
