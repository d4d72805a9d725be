"""``tracelens compare``: what differs between two runs, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tracelens.cli import _common
from tracelens.errors import TracelensError

_TRIPPED = 1


@click.command(short_help="What got faster or slower between two runs, and how sure that is.")
@click.argument("base")
@click.argument("new")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text",
    help="Form of the comparison.",
)  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path), help="Write it to this file.")
@click.option("--iterations", metavar="REGEX", help="Ranges with such names are the iterations.")
@click.option(
    "--fail-if-slower", type=click.FloatRange(min=0), metavar="PCT",
    help="Exit with 1 if there is evidence that an iteration takes so much longer, in percent.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resampling.")
@_common.run_options
def command(
    base: str,
    new: str,
    form: str,
    output: Path | None,
    iterations: str | None,
    fail_if_slower: float | None,
    seed: int,
    no_cache: bool,
    memory_limit: str | None,
) -> None:
    """Say what got faster or slower from BASE to NEW, how sure that is, and where the time went.

    \b
    Example:
      tracelens compare before.sqlite after.sqlite
      tracelens compare before.sqlite after.sqlite --fail-if-slower 5 --format markdown
    """
    from tracelens import comparison
    from tracelens.reports import _compare
    from tracelens.trace import open as open_trace

    with _common.working("comparing") as progress:
        sides = [
            open_trace(
                files,
                iterations=iterations,
                cache=not no_cache,
                memory_limit=memory_limit,
                progress=progress,
            )
            for files in (base, new)
        ]
        found = comparison.compare(*sides, seed=seed)
    render = {"text": _compare.as_text, "json": _compare.as_json}.get(form, _compare.as_markdown)
    _common.write(render(found), output)
    if fail_if_slower is not None:
        _judge(found, fail_if_slower / 100)


def _judge(found: dict[str, Any], share: float) -> None:
    from tracelens.comparison import slower_by

    if found["comparability"]["level"] == "none":
        reason = found["comparability"]["reasons"][0]["message"]
        raise TracelensError(
            f"--fail-if-slower can't judge these runs ({reason})",
            hint="record both on the same GPUs, with the same recorder and the same work",
        )
    if slower_by(found, share):
        raise click.exceptions.Exit(_TRIPPED)
