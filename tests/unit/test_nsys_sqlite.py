"""The SQLite loader: what it makes of exports of other versions, and that it leaves no trace.

What it refuses is in test_unreadable_files.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from exports import Call, Kernel, Mark, Range, make_export

from tracelens import sqlfiles
from tracelens.engine import Engine
from tracelens.loaders import nsys_sqlite, open_source
from tracelens.loaders.nsys_schema import TABLES

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


def loaded(path: Path, table: str) -> pl.DataFrame:
    frame = pl.from_arrow(open_source(path).load([table])[table])
    assert isinstance(frame, pl.DataFrame)
    return frame


def small_export(path: Path, sql: tuple[str, ...] = ()) -> Path:
    return make_export(
        path,
        kernels=[Kernel(100, 200, correlation=1, name="gemm"), Kernel(250, 300, correlation=2)],
        calls=[Call(50, 60, correlation=1), Call(70, 80, correlation=2)],
        ranges=[Range(0, 400, "iter_0")],
        sql=sql,
    )


@pytest.fixture
def no_fast_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """connectorx must not be asked."""

    def refuse(path: Path, *_: object) -> None:
        pytest.fail(f"connectorx was given {path}")

    monkeypatch.setattr(nsys_sqlite, "_read_fast", refuse)


def test_rows_as_they_are(tmp_path: Path) -> None:
    frame = loaded(small_export(tmp_path / "run.sqlite"), KERNELS)
    assert frame.select("start", "end", "correlationId", "streamId").rows() == [
        (100, 200, 1, 7),
        (250, 300, 2, 7),
    ]


@pytest.mark.parametrize("table", sorted(TABLES))
def test_absent_table_is_empty_and_typed(table: str, tmp_path: Path) -> None:
    path = make_export(tmp_path / "run.sqlite", sql=["DROP TABLE StringIds"])
    arrow = open_source(path).load([table])[table]
    wanted = TABLES[table].columns
    assert {field.name: str(field.type) for field in arrow.schema} == {
        name: "double" if kind == "float64" else kind for name, kind in wanted.items()
    }
    assert arrow.num_rows == (1 if table == "META_DATA_EXPORT" else 0)


def test_absent_column_is_null_and_typed(tmp_path: Path) -> None:
    drop = f"ALTER TABLE {KERNELS} DROP COLUMN graphNodeId"
    frame = loaded(small_export(tmp_path / "run.sqlite", (drop,)), KERNELS)
    assert frame["graphNodeId"].to_list() == [None, None]
    assert frame.schema["graphNodeId"] == pl.Int64


def test_all_null_column_keeps_its_type(tmp_path: Path) -> None:
    clear = f"UPDATE {KERNELS} SET graphNodeId = NULL, correlationId = NULL"
    frame = loaded(small_export(tmp_path / "run.sqlite", (clear,)), KERNELS)
    assert frame.schema["correlationId"] == pl.Int64
    assert frame["correlationId"].null_count() == 2


def test_suffix_v2(tmp_path: Path) -> None:
    rename = f"ALTER TABLE {KERNELS} RENAME TO {KERNELS}_V2"
    assert loaded(small_export(tmp_path / "run.sqlite", (rename,)), KERNELS).height == 2


def test_table_under_its_older_name(tmp_path: Path) -> None:
    create = (
        "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, globalTid, nameId)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (1, 2, 3, 4)",
    )
    path = small_export(tmp_path / "run.sqlite", create)
    assert loaded(path, "PROFILER_OVERHEAD").rows() == [(1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("columns", "values", "rows"),
    [
        ("start, end, globalTid, graphNodeId, originalGraphNodeId", "1, 1, 3, 5, 4", 1),
        ("start, end, globalTid, graphId, originalGraphId, graphExecId", "1, 1, 3, 5, 4, 6", 0),
    ],
    ids=["nodes until 2023", "whole graphs later"],
)
def test_reused_table_name_is_told_by_its_columns(
    columns: str, values: str, rows: int, tmp_path: Path
) -> None:
    create = (
        f"CREATE TABLE CUDA_GRAPH_EVENTS ({columns})",
        f"INSERT INTO CUDA_GRAPH_EVENTS VALUES ({values})",
    )
    path = small_export(tmp_path / "run.sqlite", create)
    assert loaded(path, "CUDA_GRAPH_NODE_EVENTS").height == rows


def test_mixed_types_in_a_column(tmp_path: Path) -> None:
    mix = (
        f"UPDATE {KERNELS} SET streamId = 'seven' WHERE correlationId = 1",
        f"UPDATE {KERNELS} SET deviceId = 1.0 WHERE correlationId = 2",
    )
    frame = loaded(small_export(tmp_path / "run.sqlite", mix), KERNELS)
    assert frame["streamId"].to_list() == [None, 7]
    assert frame["deviceId"].to_list() == [0, 1]


def test_numbers_where_text_belongs_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    mix = (
        "INSERT INTO StringIds VALUES (90, 12)",
        "INSERT INTO StringIds VALUES (91, CAST(x'66ff6f' AS TEXT))",
    )
    frame = loaded(small_export(tmp_path / "run.sqlite", mix), "StringIds")
    assert frame.filter(pl.col("id") >= 90)["value"].to_list() == [
        "12",
        "f\N{REPLACEMENT CHARACTER}o",
    ]


def test_both_readers_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_export(tmp_path / "run.sqlite")
    fast = open_source(path).load(TABLES)
    monkeypatch.setattr(nsys_sqlite.NsysSqlite, "_is_plain_file", lambda _: False)
    assert open_source(path).load(TABLES) == fast


@pytest.mark.parametrize("without", ["", "WITHOUT ROWID"])
def test_a_large_table_is_read_in_parts_in_the_order_of_its_rows(
    without: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_export(tmp_path / "run.sqlite")
    key = "id INTEGER PRIMARY KEY, value TEXT"
    rows = ", ".join(f"({n * n}, 'name {n}')" for n in range(50))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE StringIds")
        db.execute(f"CREATE TABLE StringIds ({key}) {without}")
        db.execute(f"INSERT INTO StringIds VALUES {rows}")
    whole = loaded(path, "StringIds")
    monkeypatch.setattr(nsys_sqlite, "_LARGE_ROWS", 10)
    assert loaded(path, "StringIds").equals(whole)
    assert whole["id"].to_list() == [n * n for n in range(50)]


@pytest.mark.parametrize("numbers", [range(200_000), (*range(-199_999, 0), 10**10)])
def test_rows_of_parts_are_not_mixed(
    numbers: Iterable[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_export(tmp_path / "run.sqlite")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE StringIds")
        db.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
        rows = ((number, place) for place, number in enumerate(numbers))
        db.executemany("INSERT INTO StringIds (_rowid_, id, value) VALUES (?, ?, 'name')", rows)
    monkeypatch.setattr(nsys_sqlite, "_LARGE_ROWS", 10)
    assert loaded(path, "StringIds")["id"].to_list() == list(range(200_000))


@pytest.mark.parametrize(
    "name", ["a b.sqlite", "100%25.sqlite", "what?.sqlite", "a#b&c=d.sqlite", "é.db"]
)
def test_odd_paths(name: str, tmp_path: Path) -> None:
    path = small_export(tmp_path / name)
    assert loaded(path, KERNELS).height == 2
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_path_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_export(tmp_path / "run.sqlite")
    monkeypatch.chdir(tmp_path)
    assert loaded(Path("run.sqlite"), KERNELS).height == 2


@pytest.mark.usefixtures("no_fast_reader")
@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_unfinished_database_is_read_by_the_standard_library(suffix: str, tmp_path: Path) -> None:
    path = small_export(tmp_path / "run.sqlite")
    Path(f"{path}{suffix}").touch()
    assert loaded(path, KERNELS).height == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.sqlite", f"run.sqlite{suffix}"]


@pytest.mark.usefixtures("no_fast_reader")
def test_database_in_wal_mode_is_read_by_the_standard_library(tmp_path: Path) -> None:
    path = small_export(tmp_path / "run.sqlite")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    assert loaded(path, KERNELS).height == 2
    assert [p.name for p in tmp_path.iterdir()] == ["run.sqlite"]


def test_reading_changes_nothing(tmp_path: Path, sample_traces: Path) -> None:
    path = tmp_path / "starved.sqlite"
    shutil.copyfile(sample_traces / "starved.sqlite", path)
    path.chmod(0o444)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    open_source(path).load(TABLES)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(tmp_path.iterdir()) == [path]


def test_names_from_text_and_from_registered_strings(tmp_path: Path) -> None:
    path = make_export(
        tmp_path / "run.sqlite",
        ranges=[
            Range(0, 10, "plain"),
            Range(20, 30, "registered", registered=True),
            Range(40, 50, "numbered", domain=3),
        ],
        marks=[Mark(5, "here", domain=3)],
        domains={3: "mine"},
    )
    engine = Engine([open_source(path)])
    assert engine.frame("host_range").sort("start_ns").select("domain", "name").rows() == [
        ("", "plain"),
        ("", "registered"),
        ("mine", "numbered"),
    ]
    assert engine.frame("host_mark").select("domain", "name", "at_ns").rows() == [
        ("mine", "here", 5)
    ]


def test_every_staging_relation_stands_on_an_export_with_nothing_in_it(tmp_path: Path) -> None:
    engine = Engine([open_source(make_export(tmp_path / "run.sqlite"))])
    rows = {name: engine.frame(name).height for name in sqlfiles.staging("nsys")}
    # One row a file, and the names that copies and the like have whatever the export says.
    assert {name for name, height in rows.items() if height} == {"capture_info", "op_name"}
