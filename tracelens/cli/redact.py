"""``tracelens redact``: a copy that can be given away."""

from __future__ import annotations

from pathlib import Path

import click

from tracelens.cli import _common


@click.command(short_help="A copy without what it tells of people and machines.")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--rename-kernels", is_flag=True, help="Number the kernels instead of naming them.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def command(source: Path, target: Path, rename_kernels: bool, force: bool) -> None:
    """Copy a recording without what it tells of people and machines.

    Environments, command lines, output, names of hosts and users and other processes are left out,
    paths are cut short, mail addresses and keys in names are masked. The copy analyses to the same
    figures. IN is not changed.

    \b
    Example:
      tracelens redact run.sqlite shared.sqlite
      tracelens redact run.pt.trace.json.gz shared.pt.trace.json.gz --rename-kernels
    """
    from tracelens.redact import redact
    from tracelens.reports._words import plural

    with _common.working("redacting"):
        done = redact(source, target, rename_kernels=rename_kernels, force=force)
    left_out = ", ".join(done.left_out) or "nothing"
    numbered = ", kernels numbered" if rename_kernels else ""
    masked = plural(done.masked_names, "name")
    click.echo(f"{target}: {masked} masked{numbered}. Left out: {left_out}.")
