"""Every SQL module does what its header says: what it reads, its columns, and their types."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from tracelens import sqlfiles
from tracelens.engine import Engine
from tracelens.loaders import open_source
from tracelens.loaders.nsys_schema import TABLES
from tracelens.sqlfiles import SqlModule

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "starved.sqlite"
FORMATS = sorted(p.name for p in (sqlfiles.sql_root() / "staging").iterdir() if p.is_dir())
LAYERS = ["core", "metrics", "views"]
STAGING = [m for kind in FORMATS for m in sqlfiles.staging(kind).values()]
MODULES = [*STAGING, *sqlfiles.modules().values()]
SAMPLED = [*sqlfiles.staging("nsys").values(), *sqlfiles.modules().values()]


def by_place(modules: list[SqlModule]) -> pytest.MarkDecorator:
    """Run a test on each of these modules, named as their files are."""
    names = [f"{m.layer}/{m.name}" for m in modules]
    return pytest.mark.parametrize("module", modules, ids=names)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine([open_source(SAMPLE)])


def read_by_query(query: str) -> set[str]:
    """The relations that a query reads, without those that it defines itself."""
    tree = sqlglot.parse_one(query, dialect="duckdb")
    own = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables = (table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    return {f"{t.db}.{t.name}" if t.db else t.name for t in tables} - own


def described(engine: Engine, name: str) -> list[tuple[str, str]]:
    """Columns of a built relation, with their types; of an enumeration without its values."""
    engine.need(name)
    rows = engine.connection.execute(f'DESCRIBE main."{name}"').fetchall()
    return [(row[0], re.sub(r"^ENUM\(.*\)$", "ENUM", row[1])) for row in rows]


@by_place(MODULES)
def test_header_says_what_the_relation_is(module: SqlModule) -> None:
    assert module.summary.endswith(".")
    assert module.row
    assert module.columns
    assert len({column.name for column in module.columns}) == len(module.columns)


@by_place(MODULES)
def test_header_has_no_line_that_is_not_understood(module: SqlModule) -> None:
    lines = module.path.read_text(encoding="utf-8").splitlines()
    row = next(n for n, line in enumerate(lines) if line.startswith("-- row:"))
    header = [line for line in lines[row + 1 :] if line.startswith("-- ")]
    columns = [line for line in header if re.match(r"-- [a-z][a-z0-9_]*  ", line)]
    stores = [line for line in header if line == "-- store: view"]
    assert len(columns) == len(module.columns)
    assert len(stores) == int(module.is_view)


@by_place(MODULES)
def test_reads_are_what_the_query_reads(module: SqlModule) -> None:
    assert set(module.reads) == read_by_query(module.query)


@by_place(SAMPLED)
def test_columns_are_what_the_query_gives(module: SqlModule, engine: Engine) -> None:
    declared = [(column.name, column.type) for column in module.columns]
    assert described(engine, module.name) == declared


def test_only_staging_reads_raw_tables() -> None:
    reads = {(m.name, read) for m in sqlfiles.modules().values() for read in m.reads}
    assert not [name for name, read in reads if read.startswith("raw.")]


def test_no_module_reads_from_a_layer_above_its_own() -> None:
    height = {m.name: LAYERS.index(m.layer) for m in sqlfiles.modules().values()}
    reads = [(m.name, read) for m in sqlfiles.modules().values() for read in m.reads]
    assert not [(name, read) for name, read in reads if height.get(read, 0) > height[name]]


@by_place(MODULES)
def test_one_query_and_nothing_else(module: SqlModule) -> None:
    statements = duckdb.extract_statements(module.query)
    assert [s.type for s in statements] == [duckdb.StatementType.SELECT]


@pytest.mark.parametrize("kind", FORMATS)
def test_staging_of_every_format_defines_the_same(kind: str) -> None:
    def contract(kind: str) -> dict[str, list[tuple[str, str]]]:
        modules = sqlfiles.staging(kind).values()
        return {m.name: [(c.name, c.type) for c in m.columns] for m in modules}

    assert contract(kind) == contract("nsys")


def staging_that_loaders_name() -> Iterator[str]:
    """The staging folders that the loaders say they fill, as their source has it."""
    for path in (Path(sqlfiles.__file__).parent / "loaders").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "SourceInfo":
                named = [k.value for k in node.keywords if k.arg == "staging"]
                yield from (ast.literal_eval(value) for value in named or node.args[2:3])


def test_every_loader_has_its_staging() -> None:
    assert set(staging_that_loaders_name()) == set(FORMATS)


def test_only_columns_that_staging_names_are_read() -> None:
    queries: dict[str, str] = {}
    for module in sqlfiles.staging("nsys").values():
        code = re.sub(r"--.*", "", module.query)
        for read in module.reads:
            queries[read.removeprefix("raw.")] = queries.get(read.removeprefix("raw."), "") + code
    # the versions of tools are read before anything is staged
    read = {(n, c) for n, t in TABLES.items() if n != "META_DATA_EXPORT" for c in t.columns}
    unused = {(n, c) for n, c in read if not re.search(rf"\b{c}\b", queries[n])}
    assert not unused
