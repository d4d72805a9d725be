"""``tracelens info``: what a recording holds, and what can't be said without what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tracelens.cli import _common

if TYPE_CHECKING:
    from tracelens.trace import Trace


@click.command(short_help="What is in a recording, what is missing, and what that prevents.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_common.run_options
def command(files: tuple[str, ...], no_cache: bool, memory_limit: str | None) -> None:
    """Say what is in a recording, what is missing, what that prevents, and how to record it.

    \b
    Example:
      tracelens info run.sqlite
    """
    from tracelens.inputs import expand
    from tracelens.trace import open as open_trace

    for place, path in enumerate(expand(files)):
        with _common.working("reading") as progress:
            text = "\n".join(
                _lines(
                    open_trace(
                        path, cache=not no_cache, memory_limit=memory_limit, progress=progress
                    )
                )
            )
        _common.write(f"{chr(10) if place else ''}{text}\n", None)


def _lines(trace: Trace) -> Iterator[str]:
    from tracelens.contents import contents, missing
    from tracelens.reports._words import clean, count

    yield from _head(trace)
    found = contents(trace.engine)
    yield "\nRecorded"
    yield from (f"  {count(c.rows):>12}  {c.what}" for c in found if c.rows)
    if absent := missing(found):
        yield "\nMissing"
    for content in absent:
        yield f"  {content.what}: {content.lost}"
        yield f"      record: {content.advice}"
    if absent:
        yield "  docs/recording.md says which commands record what, question by question"
    if trace.engine.sources[0].info.notes:
        yield "\nNotes"
    for _, message, advice in trace.engine.sources[0].info.notes:
        yield f"  {clean(message)} {clean(advice)}"


def _head(trace: Trace) -> Iterator[str]:
    from tracelens.reports._words import clean, ms, plural

    info = trace.engine.sources[0].info
    size = info.path.stat().st_size / 1e6 if info.path.is_file() else None
    yield clean(info.shown) + ("" if size is None else f" ({size:,.1f} MB)")
    yield f"{clean(info.producer or info.format)}, read as {info.format}"
    ((start, end),) = _rows(trace, "SELECT start_ns, end_ns FROM trace_count")
    yield f"{ms((end - start) / 1e6)} ms recorded" if start is not None else "no event recorded"
    devices = _rows(
        trace, "SELECT device_index, process_name, ordinal, name, rank, operations FROM devices"
    )
    for index, process, ordinal, name, rank, operations in devices:
        of_rank = "" if rank is None else f" of rank {rank}"
        yield (
            f"device {index}: GPU {ordinal} of {clean(process) or 'a process'}{of_rank}, "
            f"{clean(name) or 'name not recorded'}, {plural(operations, 'operation')}"
        )


def _rows(trace: Trace, query: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = trace.sql(query).fetchall()
    return rows
