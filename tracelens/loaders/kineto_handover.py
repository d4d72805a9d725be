"""Tables that one process read of a trace, for another: JSON and Arrow, so that nothing is executed
that comes through a pipe."""

from __future__ import annotations

import json
from typing import IO, Any

import pyarrow as pa

from tracelens.loaders.kineto_schema import SCHEMA
from tracelens.loaders.kineto_tables import Tables

_LENGTH_BYTES = 8


def send(tables: Tables, header: dict[str, Any], file: IO[bytes]) -> None:
    """Write tables, and the header of their trace."""
    rest = {
        "header": header,
        "strings": list(tables.strings),
        "threads": [[*pair, key] for pair, key in tables.threads.items()],
        "metadata": tables.metadata,
        "spans": tables.spans,
        "kinds": sorted(tables.kinds),
        "untimed": tables.untimed,
        "places": tables.places,
    }
    text = json.dumps(rest).encode()
    file.write(len(text).to_bytes(_LENGTH_BYTES, "little"))
    file.write(text)
    for name, columns in SCHEMA.items():
        with pa.ipc.new_stream(file, pa.schema(columns)) as stream:
            for part in tables.parts[name]:
                stream.write_table(part)


def received(file: IO[bytes]) -> tuple[Tables, dict[str, Any]]:
    """What was sent. Raises EOFError where less than all of it came."""
    length = file.read(_LENGTH_BYTES)
    text = file.read(int.from_bytes(length, "little"))
    if len(length) < _LENGTH_BYTES or len(text) < int.from_bytes(length, "little"):
        raise EOFError
    rest = json.loads(text)
    tables = Tables(
        metadata=rest["metadata"],
        spans=rest["spans"],
        kinds=set(rest["kinds"]),
        untimed=rest["untimed"],
        places=rest["places"],
    )
    for number, value in enumerate(rest["strings"]):
        tables.strings[value] = number
    for process, thread, key in rest["threads"]:
        tables.threads[process, thread] = key
    try:
        for name in SCHEMA:
            whole = pa.ipc.open_stream(file).read_all()
            tables.parts[name] = [whole] if whole.num_rows else []
    except (pa.ArrowInvalid, OSError) as error:
        raise EOFError from error
    return tables, rest["header"]
