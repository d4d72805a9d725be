"""The command line: one file a command, one error boundary."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Sequence

import click

from tracelens._version import __version__
from tracelens.errors import TracelensError, heeding_ctrl_c

UNUSABLE = 2
"""Exit status of unusable input or arguments."""
_INTERRUPTED, _NO_READER = 130, 141


class Commands(click.Group):
    """The commands of this folder, each a module with a ``command``, imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One command, or None where there is no such one."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tracelens")
def commands() -> None:
    """Where each iteration's time went, from a recorded GPU profile, and what to fix first.

    \b
    Example:
      tracelens analyze run.sqlite
      tracelens COMMAND --help
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and leave with its exit status."""
    # the collector would look through all imports again and again, to free next to nothing
    gc.set_threshold(100_000, 50, 50)
    # numpy's linear algebra is not used, and its threads wait for work by turning round
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    status = run(sys.argv[1:] if arguments is None else list(arguments))
    # nor need it look through all of them once more at the end
    gc.freeze()
    raise SystemExit(status)


def run(arguments: list[str]) -> int:
    """Run one command; every error that a user can act on becomes one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        with commands.make_context("tracelens", arguments) as context, heeding_ctrl_c():
            commands.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return UNUSABLE
    except click.UsageError as error:
        asked = error.ctx.command_path if error.ctx else "tracelens"
        return _say(f"{error.format_message()} Try: {asked} --help")
    except (TracelensError, click.ClickException) as error:
        return _say(str(error))
    except BrokenPipeError:
        # whoever read our output has seen enough; keep the interpreter from flushing into nothing
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NO_READER
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    except MemoryError:
        return _say(_OUT_OF_MEMORY)
    except OSError as error:
        return _say(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except Exception as error:
        told = _OF_DUCKDB.get(type(error).__name__)  # DuckDB may not be imported
        if told is None:
            raise
        return _say(told)
    return 0


_OUT_OF_MEMORY = (
    "there is not enough memory for this trace: use a larger machine, or record a shorter window"
)
_OUT_OF_RANGE = (
    "this recording holds numbers that no analysis can hold: record or export it again, and please "
    "report which program wrote it"
)
_OF_DUCKDB = {
    "OutOfMemoryException": _OUT_OF_MEMORY,
    "OutOfRangeException": _OUT_OF_RANGE,
    "ConversionException": _OUT_OF_RANGE,
}


def _say(message: str) -> int:
    line = re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", message)
    click.echo(f"tracelens: {line}", err=True)
    return UNUSABLE
