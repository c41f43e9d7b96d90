"""The child process: reads a request, runs the user's code, writes one JSON line a result.

Results go to the file named on the command line, so that nothing the user's code prints can be taken for one.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from neuronlint.discovery import PROGRAMS
from neuronlint.errors import ConfigurationError, InputSpecError

Line = dict[str, Any]
_EXPORTED = "export it again with this torch: torch.export.save(torch.export.export(model, inputs), path)"
_IMPORTABLE = "make the file importable, or keep its work under `if __name__ == '__main__':`"


class Worker:
    """Captures every model of one request; `skip` are names that an earlier process died on."""

    def __init__(self, request: Mapping[str, Any], results: IO[str]) -> None:
        self.request = request
        self.results = results
        self.inputs: tuple[str, ...] = tuple(request["inputs"])
        self.module: Any = None

    def send(self, line: Line) -> None:
        self.results.write(json.dumps(line) + "\n")
        self.results.flush()

    def run(self) -> None:
        import torch

        self.send({"torch": torch.__version__})
        if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 9):
            self.send(
                {"fatal": f"torch {torch.__version__} is too old, 2.9 is needed: pip install 'neuronlint[graph]'"}
            )
            return
        self._prepare_torch()
        if not self._optimizer_exists():
            return
        if (self.request["path"] or "").endswith(PROGRAMS):
            self._program(self.request["path"])
            return
        for candidate in self._candidates():
            key = candidate.name or "build"
            if key in self.request["skip"]:
                continue
            self.send({"start": key})
            self._capture(candidate)

    def _program(self, path: str) -> None:
        """An exported program, which is one model and comes with its inputs."""
        from neuronlint.capture.exported import capture_program
        from neuronlint.capture.strategies import Settings, first_line

        self.send({"start": path})
        try:
            graph = capture_program(path, self.inputs, Settings("inference", self.request["frontend"]))
        except InputSpecError as error:
            self.send({"fatal": str(error)})
            return
        except BaseException as error:
            self.send({"fail": path, "message": first_line(error), "help": _EXPORTED, "span": [path, 1, 1, 1, 1]})
            return
        self.send({"graph": replace(graph, path=self._shown_path()).to_json()})

    def _prepare_torch(self) -> None:
        import torch

        from neuronlint.capture.devices import accept_any_autocast
        from neuronlint.capture.strategies import recursion_headroom

        warnings.simplefilter("ignore")
        recursion_headroom()
        torch.compiler.set_stance("force_eager")
        torch.manual_seed(0)
        accept_any_autocast()

    def _optimizer_exists(self) -> bool:
        """Whether the optimizer that the request names can be made; where not, the whole request fails."""
        from neuronlint.capture.training import check_optimizer

        try:
            if self.request["optimizer"]:
                check_optimizer(self.request["optimizer"])
        except ConfigurationError as error:
            self.send({"fatal": str(error)})
            return False
        return True

    def _candidates(self) -> list[Any]:
        from neuronlint.capture.discover import candidates, from_reference, import_file
        from neuronlint.capture.fake import OnCpu, fake_weights

        try:
            if self.request["model"]:
                return [from_reference(self.request["model"], self.inputs)]
            path = self.request["path"]
            if self.request["observe"]:
                from neuronlint.capture.observe import observe

                return list(observe(path))
            with OnCpu():
                self.module = import_file(path)
            with fake_weights():
                return candidates(self.module, path, tuple(self.request["settings_models"]))
        except ConfigurationError as error:
            self.send({"fatal": str(error)})
        except BaseException as error:
            self._import_failed(error)
        return []

    def _import_failed(self, error: BaseException) -> None:
        from neuronlint.capture.discover import is_for_models
        from neuronlint.capture.strategies import first_line, user_span

        if isinstance(error, ModuleNotFoundError) and error.name:
            why = f"cannot import `{error.name}` here; install it to check the models of this file"
            if self.request["path"] and is_for_models(self.request["path"]):
                self.send({"fail": None, "message": why, "help": "", "span": _span(user_span(error))})
            else:
                self.send({"missing": error.name, "why": why})
            return
        said = (
            "the file called exit() when imported"
            if isinstance(error, SystemExit)
            else f"importing the file failed: {first_line(error)}"
        )
        self.send({"fail": None, "message": said, "help": _IMPORTABLE,
                   "span": _span(user_span(error))})  # fmt: skip

    def _capture(self, candidate: Any) -> None:
        from neuronlint.capture.strategies import first_line, user_span

        try:
            self._capture_one(candidate)
        except (ConfigurationError, InputSpecError) as error:
            self.send({"fail": candidate.name, "message": str(error), "help": "", "span": _span(candidate.definition)})
        except BaseException as error:
            said = "the model called exit()" if isinstance(error, SystemExit) else first_line(error)
            self.send(
                {
                    "fail": candidate.name,
                    "message": said,
                    "help": "",
                    "span": _span(user_span(error) or candidate.definition),
                }
            )

    def _capture_one(self, candidate: Any) -> None:
        from neuronlint.capture.fake import OnCpu, fake_weights
        from neuronlint.capture.prepare import complete, model_and_inputs, settle
        from neuronlint.capture.strategies import Settings, capture, first_line

        def build(fake: bool) -> Any:
            with fake_weights() if fake else OnCpu():
                model, inputs = model_and_inputs(candidate, self.inputs)
            settle(model, self.request["mode"])
            return model, complete(model, inputs, self.request["mode"])

        settings = Settings(self.request["mode"], self.request["frontend"], self.request["optimizer"])
        attempt = capture(build, settings)
        graph, error = attempt.graph, attempt.error
        if isinstance(error, (ConfigurationError, InputSpecError)):
            raise error
        if graph is None:
            self.send(
                {
                    "fail": candidate.name or "build",
                    "message": first_line(error),
                    "help": "",
                    "span": _span(attempt.span or candidate.definition),
                }
            )
            return
        graph = replace(
            graph,
            name=candidate.name or graph.name,
            path=self._shown_path(),
            definition=self._definition(candidate, graph.name),
        )
        self.send({"graph": graph.to_json()})

    def _shown_path(self) -> str | None:
        from neuronlint.capture.locations import shown_path

        return shown_path(self.request["path"]) if self.request["path"] else None

    def _definition(self, candidate: Any, class_name: str) -> Any:
        """The class statement of the model where it stands in the file checked, else the factory."""
        from neuronlint.capture.locations import definition_of

        cls = getattr(self.module, class_name, None)
        found = definition_of(cls) if isinstance(cls, type) else None
        return found or candidate.definition


def _span(span: Any) -> list[Any] | None:
    return None if span is None else [span.path, span.line, span.column, span.end_line, span.end_column]


def main() -> int:
    request = json.load(sys.stdin)
    with open(sys.argv[1], "a", encoding="utf-8") as results:
        worker = Worker(request, results)
        sys.argv = [request["path"] or "neuronlint"]
        try:
            worker.run()
            worker.send({"done": True})
        except BaseException:
            worker.send({"internal": traceback.format_exc()})
            return 3
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
