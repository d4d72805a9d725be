"""Traces that helpers read in parts hold what one process reads alone, whatever is in them."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from traces import host, kernel, trace_text

from tracelens.errors import TracelensError
from tracelens.loaders import kineto_handover, kineto_parts, open_source
from tracelens.loaders.kineto_schema import SCHEMA
from tracelens.loaders.kineto_tables import Tables

Read = tuple[dict[str, list[dict[str, Any]]], Any]


def decoded(tables: dict[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table, with texts for their numbers and threads for their keys."""
    texts = {row["id"]: row["value"] for row in tables["string"].to_pylist()} | {-1: None}
    threads = {row["key"]: row["tid"] for row in tables["thread"].to_pylist()}
    found = {}
    for name in SCHEMA.keys() - {"string", "thread"}:
        found[name] = rows = tables[name].to_pylist()
        for row in rows:
            row |= {c: texts[v] for c, v in row.items() if c.endswith("_id")}
            row |= {c: threads[v] for c, v in row.items() if c == "thread"}
    return found


def read(path: Path) -> Read:
    """Rows of all tables and the notes, or the error."""
    source = open_source(path)
    try:
        tables = source.load(SCHEMA)
    except TracelensError as error:
        return {}, str(error)
    return decoded(tables), source.info.notes


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], tuple[Read, bool]]:
    """Reads a file in so many parts; tells too whether what the helpers read was taken."""

    def read_in_parts(path: Path, count: int) -> tuple[Read, bool]:
        taken = []
        results = kineto_parts._Helpers.results

        def watched(helpers: kineto_parts._Helpers) -> Any:
            found = results(helpers)
            taken.append(found is not None)
            return found

        with monkeypatch.context() as patch:
            patch.setattr(kineto_parts, "SMALLEST_BYTES", 100)
            patch.setattr(kineto_parts, "_processors", lambda: count)
            patch.setattr(kineto_parts._Helpers, "results", watched)
            return read(path), taken == [True]

    return read_in_parts


def events(count: int = 60) -> list[dict[str, Any]]:
    """Operators on two threads, calls and kernels: texts that first come late, too."""
    found: list[dict[str, Any]] = []
    for i in range(count):
        shapes = {"Input Dims": [[i % 7]]}
        found += [
            host("cpu_op", 10 * i, 8, f"aten::op{i % 40}", tid=100 + i // 30, **shapes),
            host("cuda_runtime", 10 * i, 2, "cudaLaunchKernel", correlation=i),
            kernel(10 * i + 5.125, 4, correlation=i),
        ]
    return found


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_parts_hold_what_the_whole_holds(
    tmp_path: Path, in_parts: Any, count: int, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(pack(trace_text(events()).encode()))
    alone = read(path)
    assert len(alone[0]["gpu_op"]) == 60
    assert in_parts(path, count) == (alone, True)


def test_times_that_need_their_text(tmp_path: Path, in_parts: Any) -> None:
    """Microseconds since 1970 do not fit a double: each part finds out by itself."""
    since_1970 = [e | {"ts": 1_700_000_000_000_000.125 + e["ts"]} for e in events()]
    path = tmp_path / "trace.json"
    path.write_text(trace_text(since_1970))
    assert in_parts(path, 2) == (read(path), True)


UNTAKEN = {
    "a list of objects where the border was thought to be": (
        '"HERE"',
        json.dumps([{"number": i} for i in range(2000)]),
    ),
    "text that needs repair, in the last part": ('"LATE"', "NaN"),
    "an end that is missing": ('"LATE"}}', "1"),
}


@pytest.mark.parametrize("case", UNTAKEN)
def test_what_helpers_cannot_read_is_read_alone(tmp_path: Path, in_parts: Any, case: str) -> None:
    marked = events()
    marked[100]["args"]["x"] = "HERE"
    marked[170]["args"] = {"x": "LATE"}
    old, new = UNTAKEN[case]
    text = trace_text(marked).replace(old, new, 1)
    path = tmp_path / "trace.json"
    path.write_text(text[: text.index(new) + 1] if case.startswith("an end") else text)
    alone = read(path)
    assert in_parts(path, 2) == (alone, False)


@pytest.mark.parametrize("program", ["python-that-is-gone", "a-program-with-python-inside"])
def test_no_helper_can_be_started(
    tmp_path: Path, in_parts: Any, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(trace_text(events()))
    monkeypatch.setattr(kineto_parts.sys, "executable", str(tmp_path / program))
    assert in_parts(path, 2) == (read(path), False)


def test_short_traces_are_not_worth_a_helper(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(trace_text(events()))
    assert kineto_parts._borders(path) == []


def test_what_is_handed_over_arrives_whole_or_not_at_all() -> None:
    tables = Tables()
    tables.add([kernel(1, 2), kernel(2, 5), host("cuda_runtime", 0, 1, "cudaLaunchKernel")])
    tables.metadata.append({"ph": "M", "args": {"name": "\ud800 half a letter"}})
    sent = io.BytesIO()
    kineto_handover.send(tables, {"distributedInfo": {"rank": 3}}, sent)
    told, header = kineto_handover.received(io.BytesIO(sent.getvalue()))
    assert header == {"distributedInfo": {"rank": 3}}
    assert (told.metadata, told.places, told.kinds) == (tables.metadata, 2, tables.kinds)
    assert (dict(told.strings), dict(told.threads)) == (dict(tables.strings), dict(tables.threads))
    assert all(told.table(name).equals(tables.table(name)) for name in SCHEMA)
    for size in range(0, len(sent.getvalue()) - 1, 97):
        with pytest.raises(EOFError):
            kineto_handover.received(io.BytesIO(sent.getvalue()[:size]))
