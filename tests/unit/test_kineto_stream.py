"""Reading Chrome traces in blocks: borders, headers, gzip, repairs, and files cut short."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import kernel, staged, trace_text, write_trace

from tracelens.errors import TracelensError
from tracelens.loaders import open_source
from tracelens.loaders.kineto_stream import TraceStream

# Texts that look like the structure around them.
TRICKY = st.sampled_from(
    ['}, {"ph": "X"', "}]", '"', "\\", "]}", '{"traceEvents": [', "é", "\n", ""]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TRICKY | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TRICKY | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
EVENTS = st.lists(
    st.fixed_dictionaries({"ph": st.just("X"), "name": TRICKY, "args": VALUES}), max_size=12
)


def read(
    path: Path, block_bytes: int = 4096, damaged_bytes: int = 1 << 20
) -> tuple[list[dict[str, Any]], TraceStream]:
    stream = TraceStream(path, block_bytes, damaged_bytes)
    return [event for block in stream.blocks() for event in block], stream


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces") / "trace.json"


@settings(max_examples=150, deadline=None)
@given(
    events=EVENTS,
    before=st.dictionaries(st.sampled_from(["schemaVersion", "a"]), VALUES, max_size=2),
    after=st.dictionaries(st.sampled_from(["traceName", "b"]), VALUES, max_size=2),
    block_bytes=st.integers(1, 400),
    indent=st.sampled_from([None, 0, 2]),
)
def test_blocks_hold_what_json_loads_gives(
    scratch: Path,
    events: list[dict[str, Any]],
    before: dict[str, Any],
    after: dict[str, Any],
    block_bytes: int,
    indent: int | None,
) -> None:
    text = json.dumps({**before, "traceEvents": events, **after}, indent=indent)
    scratch.write_text(text, encoding="utf-8")
    found, stream = read(scratch, block_bytes)
    assert found == events
    assert stream.header == {**before, **after}
    assert not stream.repairs


@settings(max_examples=60, deadline=None)
@given(events=EVENTS.filter(bool), kept=st.floats(0.02, 0.98), block_bytes=st.integers(1, 400))
def test_no_part_of_a_trace_passes_for_a_whole_one(
    scratch: Path, events: list[dict[str, Any]], kept: float, block_bytes: int
) -> None:
    text = json.dumps({"traceEvents": events, "traceName": "x.json"}).encode()
    scratch.write_bytes(text[: int(len(text) * kept)])
    with pytest.raises(TracelensError):
        read(scratch, block_bytes)


def test_gzip_in_gzip_by_any_name(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    path.write_bytes(gzip.compress(gzip.compress(trace_text([kernel(1, 2)]).encode())))
    assert staged(path, "gpu_op", "start_ns", "end_ns") == [(1000, 3000)]


def test_header_behind_the_events(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [kernel(1, 2)], "distributedInfo": {"rank": 3}}))
    assert staged(path, "capture_info", "rank") == [3]
    assert staged(path, "gpu_op", "start_ns") == [1000]


def test_bare_list_of_events(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text("\ufeff" + json.dumps([kernel(1, 2), kernel(4, 1)]), encoding="utf-8")
    assert staged(path, "gpu_op", "start_ns") == [1000, 4000]


BROKEN = {
    "invalid escapes": rb'"C:\Users\me"',
    "bare NaN, inf or N/A": b"NaN",
    "raw control characters": b'"a\x01b\nc"',
    "stray commas": b"[1, 2,]",
    "unescaped quotes": b'"say "hello" twice"',
    "characters that are not UTF-8": b'"\xff"',
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
def test_repairs_and_counts(tmp_path: Path, kind: str, block_bytes: int) -> None:
    events = [
        {"ph": "X", "name": f"k{i}", "args": {"x": "HERE" if i == 3 else i}} for i in range(6)
    ]
    text = json.dumps({"traceEvents": events}).encode().replace(b'"HERE"', BROKEN[kind])
    path = tmp_path / "trace.json"
    path.write_bytes(text)
    found, stream = read(path, block_bytes)
    assert [e["name"] for e in found] == ["k0", "k1", "k2", "k3", "k4", "k5"]
    assert list(stream.repairs) == [kind]
    assert stream.repairs[kind] >= 1


def test_bare_words_only_outside_strings(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(
        '{"traceEvents": [{"ph": "X", "name": "a: NaN, inf", "args": {"x": -inf, "y": N/A}}]}'
    )
    found, stream = read(path)
    assert found == [{"ph": "X", "name": "a: NaN, inf", "args": {"x": None, "y": None}}]
    assert stream.repairs == {"bare NaN, inf or N/A": 2}


def test_comma_behind_the_last_event(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('{"traceEvents": [{"ph": "X"}, {"ph": "i"},\n ], "traceName": "t"}')
    found, stream = read(path)
    assert [e["ph"] for e in found] == ["X", "i"]
    assert stream.repairs == {"stray commas": 1}


def test_repairs_are_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(
        trace_text([kernel(1, 2)]).replace('"schemaVersion": 1', r'"traceName": "C:\my\x"')
    )
    source = open_source(path)
    source.load(["gpu_op"])
    assert [note[:2] for note in source.info.notes] == [
        ("repaired-json", "the trace is not valid JSON and was repaired: 2 invalid escapes")
    ]


def test_damage_in_the_middle_costs_only_its_event(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    events = [{"ph": "X", "name": f"k{i}"} for i in range(40)]
    path.write_text(json.dumps({"traceEvents": events}).replace('"k20"', "{[}"))
    found, stream = read(path, block_bytes=100, damaged_bytes=300)
    assert [e["name"] for e in found] == [f"k{i}" for i in range(40) if i != 20]
    assert stream.repairs == {"events that cannot be read": 1}


def test_event_beyond_repair_is_counted_and_the_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    events = [kernel(1, 2), kernel(4, 1) | {"name": "HERE"}, kernel(7, 1)]
    path.write_text(trace_text(events).replace('"HERE"', "{[}"))
    source = open_source(path)
    assert source.load(["gpu_op"])["gpu_op"]["start"].to_pylist() == [1000, 7000]
    assert source.info.notes[0][:2] == (
        "unreadable-events",
        "1 events cannot be read or have no time, and are left out",
    )


def test_cut_file_is_refused_with_how_far_it_got(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "trace.json", [kernel(t, 1) for t in range(10)])
    path.write_bytes(path.read_bytes()[:-150])
    with pytest.raises(
        TracelensError, match=r"trace\.json was cut off .* after 8 whole events, 1,"
    ):
        open_source(path).load(["gpu_op"])


def test_cut_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    packed = gzip.compress(trace_text([kernel(t * 1.25, 1) for t in range(5000)]).encode())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(TracelensError, match=r"was cut off .* after [1-4],\d\d\d whole events"):
        open_source(path).load(["gpu_op"])


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "[1, 2]", '{"traceEvents": 3}', '{"traceEvents": [{}]}']
)
def test_json_that_is_no_trace_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(TracelensError, match=r"no torch\.profiler trace"):
        open_source(path).load(["gpu_op"])


def test_empty_list_of_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TracelensError, match="lists nothing that is an event"):
        open_source(write_trace(tmp_path / "trace.json", [])).load(["gpu_op"])
