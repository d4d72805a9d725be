"""``tracelens info``: what a recording holds, and what can't be said without what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tracelens.cli import _common

if TYPE_CHECKING:
    from tracelens.loaders import Source, SourceInfo
    from tracelens.loaders.contents import Contents


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
    from tracelens.trace import opened, store_for

    store = store_for(not no_cache)
    for place, path in enumerate(expand(files)):
        with _common.working("reading") as progress:
            source = opened(path, store, progress)
            found = source.contents() or _staged(source, no_cache, memory_limit)
        text = "\n".join(_lines(source.info, found))
        _common.write(f"{chr(10) if place else ''}{text}\n", None)


def _staged(source: Source, no_cache: bool, memory_limit: str | None) -> Contents:
    """What a file holds that has to be loaded for it."""
    from tracelens.contents import staged
    from tracelens.engine import Engine
    from tracelens.trace import cache_for

    cache = cache_for([source.info.path], not no_cache)
    return staged(Engine([source], cache=cache, memory_limit=memory_limit))


def _lines(info: SourceInfo, found: Contents) -> Iterator[str]:
    from tracelens.contents import KINDS, missing
    from tracelens.reports._words import clean, count

    yield from _head(info, found)
    yield "\nRecorded"
    numbers = ((kind, found.rows[kind.what]) for kind in KINDS)
    yield from (
        f"  {count(number):>12}  {kind.named(number)}" for kind, number in numbers if number
    )
    absent = list(missing(found, is_torch=info.staging == "kineto"))
    if absent:
        yield "\nMissing"
    for lack in absent:
        yield f"  {lack.what}: {lack.lost}"
        yield f"      record: {lack.advice}"
    if absent:
        yield "  docs/recording.md says which commands record what, question by question"
    if info.notes:
        yield "\nNotes"
    for _, message, advice in info.notes:
        yield f"  {clean(message)} {clean(advice)}"


def _head(info: SourceInfo, found: Contents) -> Iterator[str]:
    from tracelens.reports._words import clean, ms, plural

    size = info.path.stat().st_size / 1e6 if info.path.is_file() else None
    yield clean(info.shown) + ("" if size is None else f" ({size:,.1f} MB)")
    yield f"{clean(info.producer or info.format)}, read as {info.format}"
    if found.start_ns is None or found.end_ns is None:
        yield "no event recorded"
    else:
        yield f"{ms((found.end_ns - found.start_ns) / 1e6)} ms recorded"
    for index, device in enumerate(found.devices):
        of_rank = "" if device.rank is None else f" of rank {device.rank}"
        yield (
            f"device {index}: GPU {device.ordinal} of {clean(device.process_name) or 'a process'}"
            f"{of_rank}, {clean(device.name) or 'name not recorded'}, "
            f"{plural(device.operations, 'operation')}"
        )
