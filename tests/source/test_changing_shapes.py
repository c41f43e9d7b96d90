"""NRN212 to NRN218: what gives a module new shapes from step to step."""

from __future__ import annotations

import pytest

from neuronlint.finding import Confidence
from tests.source.one_rule import fixed, found, said

_COLLATE = """
import torch
from torch import nn
from torch.utils.data import DataLoader
{}
"""


@pytest.mark.parametrize(
    "body",
    [
        "def score(rows):\n    return nn.utils.rnn.pad_sequence(rows)",  # makes no batches by its name
        "def collate(rows):\n    return torch.stack(rows)",
        "def collate(rows):\n    x = nn.utils.rnn.pad_sequence(rows)\n    return nn.functional.pad(x, (0, n - len(x)))",
        "def collate(rows):\n    n = -(-max(len(r) for r in rows) // 64) * 64\n    return torch.zeros(len(rows), n)",
        "def collate(rows):\n    n = max(len(r) for r in rows)\n    return torch.zeros(len(rows), n + -n % 64)",
        "def longest(rows):\n    n = max(len(r) for r in rows)\n    return torch.tensor(n)",
        "def collate(rows):\n    n = max(r.score for r in rows)\n    return torch.zeros(n)",
    ],
)
def test_batches_of_one_length(body: str) -> None:
    assert said("NRN212", _COLLATE.format(body)) == []


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("def collate(rows):\n    return nn.utils.rnn.pad_sequence(rows)", 6),
        ("class Collator:\n    def __call__(self, rows):\n        return nn.utils.rnn.pad_sequence(rows)", 7),
        ("l = DataLoader(d, collate_fn=lambda rows: nn.utils.rnn.pad_sequence(rows))", 5),
        ("def join(rows):\n    return nn.utils.rnn.pad_sequence(rows)\nl = DataLoader(d, collate_fn=join)", 6),
        ("class Pad:\n    def __call__(self, b):\n        n = max(map(len, b))\n        return torch.zeros(n)\n"
         "l = DataLoader(d, collate_fn=Pad())", 7),
        ("def collate(b):\n    n = max(x.shape[0] for x in b)\n    return torch.zeros(len(b), n)", 6),
    ],
)  # fmt: skip
def test_batches_of_their_longest(body: str, line: int) -> None:
    assert said("NRN212", _COLLATE.format(body)) == [(line, "warning")]
    assert said("NRN212", _COLLATE.format(body), "lazy") == [(line, "error")]


_TOKENS = """
from transformers import AutoTokenizer as Tok
tok = Tok.from_pretrained("x")
def encode(rows, tokenizer, **options):
    return {}
"""


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("tok(rows, padding=True)", True),
        ("tokenizer(rows, padding='longest')", True),
        ("tok.pad(rows, padding=True)", True),
        ("tok(rows, padding='max_length')", False),
        ("tok(rows, padding=True, pad_to_multiple_of=64)", False),
        ("tok(rows, padding=True, **options)", False),
        ("tok(['a', 'b'], padding=True)", False),  # one batch, always the same
        ("model(rows, padding=True)", False),
    ],
)
def test_tokenizers(call: str, wanted: bool) -> None:
    assert said("NRN212", _TOKENS.format(call)) == ([(5, "warning")] if wanted else [])


def test_a_text_padded_only_to_see_what_was_cut() -> None:
    both = "tok(rows, padding='max_length'), tok(rows, padding='longest')"
    assert said("NRN212", _TOKENS.format(both)) == []


def test_lengths_rounded_up_after_and_steps_that_are_counted() -> None:
    rounded = _TOKENS.format("tok(rows, padding=True)").replace("    return", "    n = 16 - len(rows) % 16\n    return")
    assert said("NRN212", rounded) == []
    counted = rounded.replace("n = 16 - len(rows) % 16", "if options['step'] % 16 == 0: print(rows)")
    assert said("NRN212", counted) == [(6, "warning")]


def test_collators_of_transformers() -> None:
    text = "import transformers as hf\nc = hf.DataCollatorWithPadding({})\n"
    assert said("NRN212", text.format("tok")) == [(2, "warning")]
    assert said("NRN212", text.format("tok, pad_to_multiple_of=8")) == []
    assert said("NRN212", text.format("tok, padding='max_length'")) == []


_LOOP = """
import torch as th
@th.no_grad()
def generate(model: th.nn.Module, ids, device):
    ids = ids.to(device)
    seen = []
    for i in range(9):
        new = model(ids).argmax(-1)
        {}
    return ids
"""


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ("ids = th.cat([ids, new], dim=1)", [(9, "warning")]),
        ("ids = th.hstack((ids, new))", [(9, "warning")]),
        ("ids = th.cat([ids[:, 1:], new], dim=1)", []),
        ("ids = th.cat([ids, new], dim=1)[:, -64:]", []),
        ("seen.append(th.cat([ids, new]))", []),
        ("ids = th.cat([ids, new.cpu()])", []),
        ("both = th.cat([ids, new])", []),
    ],
)
def test_a_tensor_that_grows_in_a_loop(step: str, wanted: list[tuple[int, str]]) -> None:
    assert said("NRN213", _LOOP.format(step)) == wanted


def test_layers_are_no_steps() -> None:
    text = """
    import torch
    def features(layers, x: torch.Tensor):
        for layer in layers:
            x = torch.cat([x, layer(x)])
        return x
    """
    assert said("NRN213", text) == []


def test_a_cache_of_transformers_carried_over() -> None:
    text = """
    import torch
    @torch.no_grad()
    def generate(model: torch.nn.Module, ids):
        past = {}
        for _ in range(9):
            out = model(ids, past_key_values=past)
            past = out.past_key_values
            ids = out.logits.argmax(-1)
    """
    assert said("NRN213", text.format("None"), "lazy") == [(7, "error")]
    assert said("NRN213", text.format("StaticCache(1)"), "lazy") == []


def test_a_cache_given_back_by_forward() -> None:
    text = """
    import torch
    from torch import nn
    class Attention(nn.Module):
        def forward(self, x, layer_past=None):
            k, v = self.kv(x).chunk(2, -1)
            if layer_past is not None:
                past_k, past_v = layer_past
                k, v = torch.cat([past_k, k], 1), v
                k = torch.cat((past_k, k), dim=1)
            return k @ v, {}
    """
    assert said("NRN213", text.format("(k, v)")) == [(10, "warning")]
    assert said("NRN213", text.format("x")) == []


_FORWARD = """
import torch
from torch import nn
class Model(nn.Module):
    def forward(self, x, ids, lengths, mask, index, n):
        y = x.sin()
        {}
        return y
"""


@pytest.mark.parametrize(
    "line",
    [
        "y = x[index]", "y = x[0]", "y = x[:, :n]", "y = torch.arange(n)", "y = torch.where(x > 0, x, y)",
        "y = x.repeat_interleave(n)", "y = x.repeat_interleave(2)", "y = x.masked_fill(mask, 0)", "y = self.unique(x)",
        "y = x[:, : x.shape[1] // 2]", "y = x[torch.arange(4)]", "if torch.jit.is_tracing():\n            y = x[x > 0]",
        "y = torch.where((x > 0).cpu())", "y = x if n == 3 else y",
        "if x.isnan().any():\n            bad = x.nonzero()\n            raise ValueError(bad)",
    ],
)  # fmt: skip
def test_indexing_that_keeps_its_shape(line: str) -> None:
    assert said("NRN214", _FORWARD.format(line)) == []


@pytest.mark.parametrize(
    "line",
    [
        "y = x[x > 0]", "y = x[~torch.isnan(x)]", "keep = (ids != 0) & (x > 0); y = x[keep]", "y = x[0][ids.bool()]",
        "y = x[:, ids.eq(3)]", "y = x[mask]", "y[ids == 1] = x[ids == 1]", "y = x.nonzero()", "y = torch.where(x > 0)",
        "y = torch.unique(x)", "y = x[:, : int(lengths.max())]", "m = lengths.max().item(); y = x[:m]",
        "y = torch.arange(lengths.max())", "y = x.repeat_interleave(lengths.long(), 0)", "y = x[mask.view(-1)]",
    ],
)  # fmt: skip
def test_indexing_by_values(line: str) -> None:
    assert said("NRN214", _FORWARD.format(line)) == [(7, "warning")]
    assert said("NRN214", _FORWARD.format(line), "trace") == [(7, "error")]


def test_a_name_alone_is_less_sure_and_an_index_is_no_mask() -> None:
    assert [f.confidence for f in found("NRN214", _FORWARD.format("y = x[mask]"))] == [Confidence.MEDIUM]
    text = "import torch\n@torch.no_grad()\ndef test(model: torch.nn.Module, loader, mask):\n"
    assert said("NRN214", text + "    for x in loader:\n        y = model(x.cuda())[mask]\n") == []


def test_a_loop_of_a_traced_module_is_on_the_host() -> None:
    text = """
    import torch
    import torch_neuronx
    @torch.no_grad()
    def serve(model: torch.nn.Module, loader, x):
        traced = torch_neuronx.trace(model, x)
        for x in loader:
            y = traced(x.to("xla"))
            print(y[y > 0])
    """
    assert said("NRN214", text, "trace") == []
    assert said("NRN214", text.replace("traced = torch_neuronx.trace(model, x)", "traced = model")) == [(9, "warning")]


def test_where_a_mask_stands_and_its_fix() -> None:
    text = _FORWARD.format('y[y < index] = -float("inf")')
    (finding,) = found("NRN214", text)
    assert finding.span is not None
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (7, 9, 21)
    assert '        y.masked_fill_(y < index, -float("inf"))\n' in fixed("NRN214", text)
    other = _FORWARD.format("y[ids == 1] = 0")  # the mask may have fewer dimensions than the tensor
    assert fixed("NRN214", other) == other


_COMPILED = """
import torch
def run(model: torch.nn.Module, device):
    step = torch.compile(model{})
    for n in {}:
        x = torch.zeros(4, n, device=device)
        step(x)
"""


@pytest.mark.parametrize(
    ("options", "sizes", "wanted"),
    [
        ("", "(8, 12, 20)", True),
        (", dynamic=True", "[8, 12]", True),
        (", dynamic=False", "(8, 12, 20)", False),
        (", dynamic=False", "range(1, 10)", True),
        (", dynamic=False", "range(1, 9)", False),
        ("", "(8, 8)", False),
        ("", "sizes()", False),
        ("", "(1.0, 2.0)", False),
    ],
)
def test_literal_sizes(options: str, sizes: str, wanted: bool) -> None:
    text = _COMPILED.format(options, sizes)
    assert said("NRN216", text) == ([(5, "warning")] if wanted else [])


def test_many_shapes_name_dynamo_s_limit() -> None:
    (finding,) = found("NRN216", _COMPILED.format(", dynamic=False", "range(20)"))
    assert "recompile_limit" in finding.then
    assert "recompile_limit" in (finding.help or "")
    raised = "import torch\ntorch._dynamo.config.recompile_limit = 64\n"
    assert said("NRN216", raised + _COMPILED.format(", dynamic=False", "range(20)")) == []


def test_a_size_that_the_module_does_not_see() -> None:
    assert said("NRN216", _COMPILED.format("", "(1, 2)").replace("(4, n,", "(4, 4,")) == []
    assert said("NRN216", _COMPILED.format("", "(1, 2)").replace("torch.compile(model)", "model")) == []


_STEPS = """
import torch
import torch_xla
@torch.no_grad()
def sample(model: torch.nn.Module, x: torch.Tensor):
    table = torch.linspace(0, 1, 10){}
    for i in reversed(range(10)):
        a = table[{}]
        x = model(x, a)
        {}
"""


@pytest.mark.parametrize("index", ["i", "i - 1", "i : i + 1", "0, i"])
def test_a_counter_as_index(index: str) -> None:
    on_device = ".to(torch_xla.device())"
    assert said("NRN218", _STEPS.format(on_device, index, "torch_xla.sync()"), "lazy") == [(8, "warning")]
    assert said("NRN218", _STEPS.format(on_device, index, "x.mean().item()"), "lazy") == [(8, "warning")]
    assert said("NRN218", _STEPS.format(on_device, index, "pass"), "lazy") == []  # one graph for all steps
    assert said("NRN218", _STEPS.format("", index, "torch_xla.sync()"), "lazy") == []
    assert said("NRN218", _STEPS.format(on_device, index, "torch_xla.sync()")) == []


@pytest.mark.parametrize("index", ["0", "step", "model.step", "order[0]", ":4"])
def test_other_indices(index: str) -> None:
    assert said("NRN218", _STEPS.format(".to('xla')", index, "torch_xla.sync()"), "lazy") == []
