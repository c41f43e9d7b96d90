"""The four ways in which a file gives its models, and how arguments and inputs are found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from neuronlint.capture.messages import CaptureResult

Capture = Callable[..., CaptureResult]


def names(result: CaptureResult) -> list[str]:
    assert result.failures == ()
    return [graph.name for graph in result.graphs]


def test_a_listing_function_names_its_models(capture_file: Capture) -> None:
    result = capture_file(
        """
        def neuronlint_models():
            yield "small", nn.Linear(2, 2), (torch.zeros(1, 2),), {}
            yield "large", nn.Linear(3, 3), (), {"input": torch.zeros(1, 3)}

        class Other(nn.Module):
            pass
        """
    )
    assert names(result) == ["small", "large"]


def test_classes_used_inside_another_are_not_models_of_their_own(capture_file: Capture) -> None:
    result = capture_file(
        """
        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.layer = nn.Linear(width, width)

            def forward(self, x):
                return self.layer(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block(8)

            def forward(self, x):
                return self.block(x)
        """
    )
    assert names(result) == ["Net"]
    assert result.graphs[0].inputs[0].text == "float32[1,8]"


def test_a_class_named_model_wins(capture_file: Capture) -> None:
    result = capture_file(
        """
        class Loss(nn.Module):
            def forward(self, x):
                return x

        class Model(nn.Module):
            def forward(self, x):
                return x + 1
        """
    )
    assert names(result) == ["Model"]


def test_arguments_come_from_a_configuration_dataclass(capture_file: Capture) -> None:
    result = capture_file(
        """
        from dataclasses import dataclass

        @dataclass
        class Config:
            width: int = 12

        class Net(nn.Module):
            def __init__(self, config: Config):
                super().__init__()
                self.embed, self.out = nn.Embedding(100, config.width), nn.Linear(config.width, 2)

            def forward(self, ids):
                return self.out(self.embed(ids))
        """
    )
    assert names(result) == ["Net"]
    assert result.graphs[0].parameters == 1200 + 26
    assert result.graphs[0].inputs[0].text == "int64[1,16]"


def test_arguments_come_from_a_call_in_the_file(capture_file: Capture) -> None:
    result = capture_file(
        """
        class Net(nn.Module):
            def __init__(self, channels, depth):
                super().__init__()
                self.layers = nn.Sequential(*[nn.Conv2d(channels, channels, 3, padding=1) for _ in range(depth)])

            def forward(self, image):
                return self.layers(image)

        if __name__ == "__main__":
            Net(5, depth=3)
        """
    )
    assert names(result) == ["Net"]
    assert result.graphs[0].parameters == 3 * (5 * 5 * 9 + 5)


def test_a_constructor_argument_that_nothing_gives_is_named(capture_file: Capture) -> None:
    result = capture_file(
        """
        class Net(nn.Module):
            def __init__(self, secret):
                super().__init__()
        """
    )
    assert result.graphs == ()
    assert [f.code for f in result.failures] == ["NRN902"]
    assert "`Net` needs the argument `secret`" in result.failures[0].message


def test_observe_takes_the_first_call_of_a_script(capture_file: Capture) -> None:
    result = capture_file(
        """
        class Net(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.layer = nn.Linear(width, 1)

            def forward(self, x, scale=1.0):
                return self.layer(x) * scale

        def main():
            net = Net(6)
            net(torch.ones(9, 6))
            raise SystemExit("never reached")

        if __name__ == "__main__":
            main()
        """,
        observe=True,
    )
    assert names(result) == ["Net"]
    assert result.graphs[0].inputs[0].text == "float32[9,6]"


def test_settings_name_a_factory_and_its_inputs(capture_file: Capture) -> None:
    entry = {"path": "model.py", "factory": "make", "kwargs": {"width": 3}, "inputs": ("float32[2,3]",)}
    result = capture_file("def make(width):\n    return nn.Linear(width, 1)\n", settings_models=(entry,))
    assert result.graphs[0].parameters == 4
    assert result.graphs[0].inputs[0].text == "float32[2,3]"


@pytest.mark.parametrize("statement", ["import not_installed_here", "from not_installed_here import x"])
def test_a_missing_import_of_a_file_for_models_is_a_failure(capture_file: Capture, statement: str) -> None:
    result = capture_file(f"{statement}\nclass Net(nn.Module):\n    pass\n")
    assert [(f.code, f.span.line if f.span else None) for f in result.failures] == [("NRN902", 3)]
    assert result.failures[0].message.startswith("cannot import `not_installed_here` here; install it")


def test_a_script_with_a_missing_import_is_skipped(capture_file: Capture) -> None:
    result = capture_file(
        """
        import not_installed_here

        class Net(nn.Module):
            pass

        if __name__ == "__main__":
            Net()
        """
    )
    assert result.failures == ()
    assert result.skipped is not None
    assert "`not_installed_here`" in result.skipped


def test_a_listing_of_large_models_is_built_on_fake_weights(capture_file: Capture) -> None:
    result = capture_file(
        """
        def neuronlint_models():
            yield "small", nn.Linear(2, 2), (torch.zeros(1, 2),), {}
            yield "large", nn.Linear(262144, 262144, bias=False), (torch.zeros(1, 262144),), {}
        """,
        memory_gib=4,
    )
    assert names(result) == ["small", "large"]
    assert result.graphs[1].parameters == 262144**2
