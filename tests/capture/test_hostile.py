"""Whatever the user's code does, it is one finding, and the other models of the file are still judged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from neuronlint.capture.messages import CaptureResult

Capture = Callable[..., CaptureResult]

GOOD_AND = """
class Good(nn.Module):
    def forward(self, x):
        return x + 1

class Bad(nn.Module):
    def forward(self, x):
        {body}

def neuronlint_models():
    yield "first", Good(), (torch.zeros(2),), {{}}
    yield "bad", Bad(), (torch.zeros(2),), {{}}
    yield "last", Good(), (torch.zeros(2),), {{}}
"""


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("import os; os._exit(0)", "NRN904", "the capture process ended with exit code 0"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "NRN904", "the capture process died: SIGSEGV"),
        ("import ctypes; ctypes.string_at(0)", "NRN904", "the capture process died: SIGSEGV"),
        ("while True: pass", "NRN904", "no answer in time: stopped after 20 s"),
        (
            "keep = []\n        while True: keep.append(bytearray(1 << 26))",
            "NRN904",
            "too much memory: stopped at 2 GiB",
        ),
        (
            "import threading, time\n"
            "        for _ in range(5000): threading.Thread(target=time.sleep, args=(60,)).start()\n"
            "        time.sleep(60)",
            "NRN904",
            "too many threads or processes",
        ),
        ("exit(3)", "NRN902", "the model called exit()"),
        ("raise KeyboardInterrupt", "NRN902", "KeyboardInterrupt"),
    ],
)
def test_a_model_that_kills_its_process_costs_itself_only(
    capture_file: Capture, body: str, code: str, message: str
) -> None:
    result = capture_file(GOOD_AND.format(body=body), timeout=20, memory_gib=2)
    assert [graph.name for graph in result.graphs] == ["first", "last"]
    assert [(f.model, f.code) for f in result.failures] == [("bad", code)]
    assert message in result.failures[0].message


def test_gigabytes_of_output_neither_block_nor_reach_the_report(capture_file: Capture) -> None:
    result = capture_file(
        """
        import sys
        class Loud(nn.Module):
            def forward(self, x):
                for _ in range(2000):
                    sys.stdout.write("x" * (1 << 20))
                sys.stdout.write('{"graph": {}}')
                return x + 1

        def build():
            return Loud(), (torch.zeros(2),)
        """,
        timeout=100,
    )
    assert result.failures == ()
    assert [graph.name for graph in result.graphs] == ["Loud"]


def test_a_file_that_exits_when_imported_is_one_failure(capture_file: Capture) -> None:
    result = capture_file("raise SystemExit(0)\n")
    assert [(f.model, f.code, f.message) for f in result.failures] == [
        (None, "NRN902", "the file called exit() when imported")
    ]


def test_a_file_that_fails_when_imported_names_its_line(capture_file: Capture) -> None:
    result = capture_file("x = 1\ny = x / 0\n")
    assert result.failures[0].message == "importing the file failed: ZeroDivisionError: division by zero"
    assert result.failures[0].span is not None
    assert result.failures[0].span.line == 4
