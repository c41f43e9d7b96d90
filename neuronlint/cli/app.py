"""The command line: commands are imported when they are asked for, errors become one line and an exit code."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from neuronlint import __version__
from neuronlint.errors import NeuronlintError
from neuronlint.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "check": "report what does not run on the chip, at your own line",
    "emulate": "run a migrated script on a device that is not there",
    "explain": "show a rule's page",
    "graph": "write the operator graph of a model",
    "knowledge": "what the tables cover",
    "migrate": "rewrite scripts for CUDA so that they run on the chip",
    "ops": "show what is known of an operator on every stack",
    "rules": "list all rules",
    "version": "version of the tool and of its knowledge",
}
ISSUES = "https://github.com/neuronlint/neuronlint/issues"
OK, FOUND, BROKEN, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


class LazyGroup(click.Group):
    """Finds a command's module by its name, so that `--help` and `--version` import none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return cast("click.Command", importlib.import_module(f"neuronlint.cli.{cmd_name}").command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(_unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _unknown_command(word: str) -> str:
    near = nearest(word, COMMANDS)
    if near:
        return f"no command `{word}`; did you mean `{near}`?"
    if Path(word).exists():
        return f"no command `{word}`; to check this path, write `neuronlint check {word}`"
    return f"no command `{word}`; there are {', '.join(COMMANDS)}"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="neuronlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Reports what of a PyTorch model does not run on AWS Inferentia and Trainium, before you compile it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: 0 nothing found, 1 findings, 2 usage error or our own fault."""
    try:
        code = cli.main(list(sys.argv[1:] if arguments is None else arguments), "neuronlint", standalone_mode=False)
        sys.stdout.flush()
        return int(code or OK)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BROKEN
    except click.ClickException as error:
        return _usage_error(error)
    except (click.Abort, KeyboardInterrupt):
        click.echo("neuronlint: interrupted", err=True)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as ended:  # click exits by itself where the reader of a pipe has gone
        if isinstance(ended, SystemExit) and "_NEURONLINT_COMPLETE" in os.environ:
            sys.stdout.flush()
            return int(ended.code or 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except NeuronlintError as error:
        complain(str(error))
        return error.exit_code
    except Exception:  # a bug of ours: told as one, with its traceback
        import traceback

        return report_crash(traceback.format_exc())


def _usage_error(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    way_out = f"; see `{context.command_path} --help`" if context else ""
    complain(" ".join(error.format_message().split()).rstrip(".") + way_out)
    return BROKEN


def complain(message: str) -> None:
    """One line on stderr for each line of a message."""
    for line in message.split("\n"):
        click.echo(f"neuronlint: error: {line}", err=True)


def report_crash(text: str) -> int:
    """A traceback of our own, and how to report it."""
    click.echo(text.rstrip(), err=True)
    click.echo(
        f"neuronlint {__version__} broke; this is a bug. Please report it, with the lines above: {ISSUES}", err=True
    )
    return BROKEN
