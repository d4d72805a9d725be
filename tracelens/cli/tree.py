"""``tracelens tree``: the ranges of a run by path, with what each cost on the host and the GPU."""

from __future__ import annotations

from pathlib import Path

import click

from tracelens.cli import _common

_LEVELS = 4


@click.command(short_help="The nested ranges of a run, with their CPU and GPU time.")
@click.argument("run", nargs=-1, required=True)
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N",
    help=f"Show this many levels (text: {_LEVELS} where not given, else all).",
)  # fmt: skip
@click.option(
    "--domain", "domains", multiple=True, metavar="NAME",
    help="Only ranges of this NVTX domain; may be repeated; '' is the default domain.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "flame"]), default="text",
    help="Text, the nested tree as JSON, or JSON for a flame graph of GPU busy time.",
)  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path), help="Write the tree to this file.")
@click.option("--no-color", is_flag=True, help="No colours, even on a terminal.")
@_common.run_options
def command(
    run: tuple[str, ...],
    depth: int | None,
    domains: tuple[str, ...],
    form: str,
    output: Path | None,
    no_color: bool,
    no_cache: bool,
    memory_limit: str | None,
) -> None:
    """Show the nested ranges of a run, alike ones together, with their CPU and GPU time.

    Numbers in names are folded: iter_0, iter_1 ... are iter_#. Times are sums over the run; GPU is
    from the first operation to the last of each range, busy is when at least one ran. What
    autograd's thread launched counts in the phase that it worked for.

    \b
    Example:
      tracelens tree run.sqlite
      tracelens tree run.sqlite --depth 8 --domain ""
    """
    from tracelens.reports import _tree
    from tracelens.trace import open as open_trace

    with _common.working("reading") as progress:
        trace = open_trace(run, cache=not no_cache, memory_limit=memory_limit, progress=progress)
        levels = depth or (_LEVELS if form == "text" else None)
        processes = _tree.nested(trace.tree(), levels, domains)
    if form == "json":
        text = _tree.to_json({"schema": "tracelens-tree/1", "children": processes}) + "\n"
    elif form == "flame":
        text = _tree.to_json(_tree.flame(processes)) + "\n"
    elif processes:
        color = _common.wants_color(no_color, output)
        text = _tree.render(processes, width=_common.terminal_width(), color=color)
    else:
        text = "No nested ranges here. tracelens info RUN says what was recorded.\n"
    _common.write(text, output)
