"""Tensors of the emulated device: each has no memory of its own, and stands for one on the CPU that computes."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from neuronlint.capture.emulation.record import READS, Held, Record

NAME = "neuron"
_MIXED = ("aten.index", "aten.copy_", "aten._to_copy", "aten.set_", "c10d.")
"""Operators that take tensors of the CPU beside those of a device."""


def is_ours(device: Any) -> bool:
    """Whether a device, or the name of one, is the emulated one."""
    if isinstance(device, str):
        return device == NAME or device.startswith(f"{NAME}:")
    return isinstance(device, torch.device) and device.type == NAME


class NeuronTensor(torch.Tensor):
    """`raw` is the tensor on the CPU that computes; both have the same shape, strides and type."""

    raw: torch.Tensor
    held: Held

    @staticmethod
    def __new__(cls, raw: torch.Tensor, requires_grad: bool = False) -> NeuronTensor:
        made: NeuronTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            raw.size(),
            strides=raw.stride() if raw.layout is torch.strided else None,
            storage_offset=raw.storage_offset() if raw.layout is torch.strided else 0,
            dtype=raw.dtype,
            device=torch.device(NAME, 0),
            requires_grad=requires_grad,
        )
        made.raw = raw
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        emulation = Emulation.active
        if emulation is not None:
            emulation.record.read(self.raw.nbytes)
        text = repr(self.raw.detach())
        return f"{text[:-1]}, device='{NAME}:0')" if text.endswith(")") else text

    def __format__(self, spec: str) -> str:
        return str(self.item().__format__(spec)) if self.dim() == 0 else object.__format__(self, spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Saved as a tensor of the CPU: the device holds no memory of its own here."""
        return self.raw.__reduce_ex__(protocol)

    def __deepcopy__(self, memo: Any) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        with torch.no_grad():
            copied: Any = NeuronTensor(self.raw.detach().clone(), self.requires_grad)
        if isinstance(self, torch.nn.Parameter):
            copied = torch.nn.Parameter(copied, self.requires_grad)
        memo[id(self)] = copied
        return copied

    def numpy(self, *, force: bool = False) -> Any:
        if force:
            return self.cpu().detach().numpy()
        raise TypeError(
            f"can't convert {NAME}:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __array__(self, dtype: Any = None) -> Any:
        return self.numpy()

    def data_ptr(self) -> int:
        return int(self.raw.data_ptr())

    def untyped_storage(self) -> Any:
        return self.raw.untyped_storage()

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def pin_memory(self, device: Any = None) -> torch.Tensor:
        raise RuntimeError(f"cannot pin '{NAME}' memory, only dense CPU tensors can be pinned")

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, NeuronTensor) else value


class Emulation(TorchDispatchMode):
    """Runs the calls of operators while a script runs, and keeps account of those of the device."""

    active: Emulation | None = None

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record

    def __enter__(self) -> Any:
        Emulation.active = self
        return super().__enter__()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        Emulation.active = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.run(func, args, kwargs or {})

    def run(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """One call: on the CPU's tensors, its results on the device where its operands or its `device` are."""
        given = _tensors((args, kwargs))
        ours = [tensor for tensor in given if isinstance(tensor, NeuronTensor)]
        target = kwargs.get("device")
        to_device = is_ours(target)
        name = str(func)
        if name == "aten._pin_memory.default":
            return args[0]  # there is no driver that would pin
        if not ours and not to_device:
            return func(*args, **kwargs)
        to_host = target is not None and not to_device
        self._same_device(name, given, ours, to_device or to_host)
        if to_device:
            kwargs = {**kwargs, "device": torch.device("cpu")}
        raw_args, raw_kwargs = tree_map(_raw, args), tree_map(_raw, kwargs)
        if to_device and name == "aten._to_copy.default" and not ours:
            self.record.upload(sum(tensor.nbytes for tensor in given))
        elif to_host and ours and name == "aten._to_copy.default":
            self.record.read(sum(tensor.raw.nbytes for tensor in ours))
        elif name in READS:
            self.record.read(ours[0].raw.element_size())
        else:
            self.record.call(func, raw_args, raw_kwargs)
        out = func(*raw_args, **raw_kwargs)
        if name == "aten.copy_.default":
            self._copied(args)
        if to_host:
            return out
        return self._wrapped(out, ours)

    def _copied(self, args: Any) -> None:
        into, source = args[0], args[1]
        if isinstance(into, NeuronTensor) and not isinstance(source, NeuronTensor) and source.dim():
            self.record.upload(source.nbytes)
        elif isinstance(source, NeuronTensor) and not isinstance(into, NeuronTensor):
            self.record.read(source.raw.nbytes)

    def _same_device(self, name: str, given: list[torch.Tensor], ours: list[NeuronTensor], moves: bool) -> None:
        """Raises what PyTorch raises where operands are on two devices; a number in a tensor may be anywhere."""
        others = [t for t in given if not isinstance(t, NeuronTensor) and t.dim() > 0]
        if ours and others and not moves and not name.startswith(_MIXED):
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {NAME}:0 and cpu! "
                f"(in {name})"
            )

    def _wrapped(self, out: Any, ours: list[NeuronTensor]) -> Any:
        """The results as tensors of the device: an operand that was written is given back itself."""
        for tensor in ours:
            _reshaped(tensor)
        written = {id(tensor.raw): tensor for tensor in ours}

        def wrap(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) in written:
                return written[id(value)]
            made = NeuronTensor(value)
            self.record.hold(made, value)
            return made

        return tree_map(wrap, out)


def _reshaped(tensor: NeuronTensor) -> None:
    """Gives a tensor the shape that an operator in place has given to what computes: `x.unsqueeze_(0)`, `out=x`."""
    raw = tensor.raw
    if raw.layout is torch.strided and (tensor.size() != raw.size() or tensor.stride() != raw.stride()):
        made = NeuronTensor(raw)
        with torch._C._DisableTorchDispatch():
            torch._C.TensorBase.data.__set__(tensor, made)


def run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A call with operands of the device; once the script has ended, that of the CPU."""
    if Emulation.active is None:
        return func(*tree_map(_raw, args), **tree_map(_raw, kwargs))
    return Emulation.active.run(func, args, kwargs)


def _tensors(value: Any) -> list[torch.Tensor]:
    """The tensors in nested arguments."""
    found: list[torch.Tensor] = []

    def look(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            found.append(item)
        return item

    tree_map(look, value)
    return found
