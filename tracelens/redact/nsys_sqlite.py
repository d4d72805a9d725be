"""Redact an Nsight Systems SQLite export: a new database with the tables that are read, no more."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import polars as pl

from tracelens import data
from tracelens.errors import TracelensError
from tracelens.loaders.nsys_schema import TABLES, RawTable
from tracelens.redact import Redaction, refuse_leaks
from tracelens.redact.names import Masker, users_of_paths

_TYPES = {"int64": "INTEGER", "float64": "REAL", "string": "TEXT"}
_KERNEL_NAMES = ("demangledName", "shortName")
_NAMES = (*_KERNEL_NAMES, "nameId", "textId")
"""Columns that refer to StringIds."""
_UNREAD = {"jsonText"}
"""Free text that no analysis looks at."""
_EXPORT_KEYS = re.compile(r"^EXPORT_(PRODUCT|SCHEMA)_|^EXPORT_CONFIG_TIME_SHIFT$")
_TELLING = re.compile(r"(?i)^(.*host_?name|user|logname|username|sudo_user|home|pwd)$")
_CONFIDING = ("TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE", "ProcessStreams", "PROCESSES")
"""Tables that tell of people and machines."""


def write(source: Path, target: Path, rename_kernels: bool, *, is_zipped: bool) -> Redaction:
    """Write the redacted database; a SQLite export is never zipped."""
    uri = f"file:{quote(str(source.absolute()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(target, uri=True)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("ATTACH ? AS source", (uri,))
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            copy = _Copy(db, rename_kernels)
            copy.run()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise TracelensError(
                f"{source} is damaged ({error})",
                hint="copy or export it again: nsys export --type sqlite REPORT.nsys-rep",
            ) from None
        db.commit()
        db.execute("DETACH source")
        db.execute("VACUUM")
    refuse_leaks(source, copy.leaks(target))
    return Redaction(copy.masker.masked, tuple(sorted(copy.left_out)))


class _Copy:
    """One copy under way: ``main`` is the new database, ``source`` the one that is read."""

    def __init__(self, db: sqlite3.Connection, rename_kernels: bool) -> None:
        self.db = db
        self.tables = {
            name: [row[1] for row in db.execute(f"PRAGMA source.table_info({_quoted(name)})")]
            for (name,) in db.execute("SELECT name FROM source.sqlite_master WHERE type = 'table'")
        }
        self.rename_kernels = rename_kernels
        self.identities, self.confided = self._people()
        self.masker = Masker(self.identities)
        self.left_out = {name for name in self.tables if not name.startswith("ENUM_")}
        self._uuids: dict[str, str] = {}

    def run(self) -> None:
        """Fill the new database."""
        self.db.create_function("masked", 1, self._masked, deterministic=True)
        self.db.create_function("base_name", 1, self._base_name, deterministic=True)
        self.db.create_function("any_gpu", 1, self._any_gpu, deterministic=True)
        kept = [(n, a, s) for n, s in TABLES.items() for a in self._actual(n, s)]
        self._note_processes(kept)
        for name, actual, spec in kept:
            self.left_out.discard(actual)
            if name != "StringIds":
                self._copy_table(name, actual, spec)
        if "StringIds" in self.tables:
            self._copy_strings([actual for _, actual, _ in kept])

    def leaks(self, target: Path) -> Iterator[str]:
        """What was taken out and is still in the file's bytes, or would be taken out again."""
        content = target.read_bytes()
        kept = {text for (text,) in self._texts_of(target)}
        yield from (text for text in kept if self.masker.leaks(text))
        for text in {*self.masker.telling(), *(t for t in self.confided if len(t) >= 8)}:
            # what the environment says may be a word that a kept name has as well
            if text.encode() in content and not any(text in name for name in kept):
                yield text

    def _actual(self, name: str, spec: RawTable) -> list[str]:
        found = [c for base in (name, *spec.aliases) for c in (base, f"{base}_V2")]
        return [c for c in found if c in self.tables and set(spec.required) <= {*self.tables[c]}]

    def _people(self) -> tuple[set[str], set[str]]:
        """Names of users and hosts that the recording confides, and all it says of them."""
        texts = {text for table in _CONFIDING for text in self._values(table)}
        identities = {name for text in self._values("StringIds") for name in users_of_paths(text)}
        for text in texts:
            identities |= users_of_paths(text)
            for line in re.split(r"[\n\0]", text):
                key, _, value = line.partition("=")
                if _TELLING.match(key.strip()):
                    identities |= set(re.split(r"[/\\.\s]", value.strip()))
        identities |= self._named("TARGET_INFO_SYSTEM_ENV")
        identities |= self._named("META_DATA_CAPTURE")
        lines = {line.strip() for text in texts for line in re.split(r"[\n\0]", text)}
        return identities, lines

    def _named(self, table: str) -> set[str]:
        """Values of keys that tell a host or a user, in a table of names and values."""
        if not {"name", "value"} <= {*self.tables.get(table, [])}:
            return set()
        rows = self.db.execute(f"SELECT name, value FROM source.{_quoted(table)}")
        return {
            part
            for name, value in rows
            if isinstance(value, str) and _TELLING.match(re.split(r"[:.\s]", str(name))[-1])
            for part in (value, *re.split(r"[/\\.\s]", value))
        }

    def _values(self, table: str) -> Iterator[str]:
        for column in self.tables.get(table, []):
            query = f"SELECT DISTINCT {_quoted(column)} FROM source.{_quoted(table)}"
            yield from (v for (v,) in self.db.execute(query) if isinstance(v, str))

    def _note_processes(self, kept: list[tuple[str, str, RawTable]]) -> None:
        """Processes that did something that an analysis sees: work, calls, or ranges."""
        self.db.execute("CREATE TEMP TABLE seen (process INTEGER PRIMARY KEY)")
        for name, actual, _ in kept:
            if name.startswith("CUPTI_ACTIVITY_KIND_") or name == "NVTX_EVENTS":
                for column in {"globalPid", "globalTid"} & {*self.tables[actual]}:
                    self.db.execute(
                        f"INSERT OR IGNORE INTO seen SELECT {column} >> 24 "
                        f"FROM source.{_quoted(actual)} WHERE typeof({column}) = 'integer'"
                    )

    def _copy_table(self, name: str, actual: str, spec: RawTable) -> None:
        columns = [c for c in spec.columns if c in self.tables[actual] and c not in _UNREAD]
        types = [f"{_quoted(c)} {_TYPES[spec.columns[c]]}" for c in columns]
        self.db.execute(f"CREATE TABLE main.{_quoted(actual)} ({', '.join(types)})")
        values = ", ".join(self._value(name, c, spec.columns[c]) for c in columns)
        names = ", ".join(map(_quoted, columns))
        self.db.execute(
            f"INSERT INTO main.{_quoted(actual)} ({names}) SELECT {values} "
            f"FROM source.{_quoted(actual)} WHERE {self._wanted(name, columns)} ORDER BY rowid"
        )

    def _value(self, table: str, column: str, kind: str) -> str:
        quoted = _quoted(column)
        if kind != "string":
            # text in a column of numbers would come through unseen
            return f"CASE WHEN typeof({quoted}) IN ('integer', 'real') THEN {quoted} END"
        function = {("TARGET_INFO_GPU", "uuid"): "any_gpu", ("PROCESSES", "name"): "base_name"}
        return f"{function.get((table, column), 'masked')}({quoted})"

    def _wanted(self, table: str, columns: list[str]) -> str:
        if table == "META_DATA_EXPORT":
            keys = [key for key in self._values_of_keys() if _EXPORT_KEYS.search(key)]
            return f"name IN ({', '.join(_text(key) for key in keys)})"
        process = next((c for c in ("globalPid", "globalTid") if c in columns), None)
        if process is None:
            return "true"
        return f"{process} IS NULL OR {process} >> 24 IN (SELECT process FROM seen)"

    def _values_of_keys(self) -> Iterator[str]:
        for name in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            if "name" in self.tables.get(name, []):
                query = f"SELECT name FROM source.{name}"
                yield from (key for (key,) in self.db.execute(query) if isinstance(key, str))

    def _copy_strings(self, tables: list[str]) -> None:
        """The strings that a row of the new database refers to."""
        kernels, others = self._referred(tables, _KERNEL_NAMES), self._referred(tables, _NAMES[2:])
        rows = self.db.execute("SELECT id, value FROM source.StringIds").fetchall()
        strings = {number: str(text) for number, text in rows if number in kernels | others}
        public = communication(strings.values())
        self.db.execute("CREATE TABLE main.StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
        for number, text in sorted(strings.items()):
            renamed = self.rename_kernels and number in kernels - others and text not in public
            shown = self.masker.kernel(text) if renamed else self.masker.mask(text)
            self.db.execute("INSERT INTO main.StringIds VALUES (?, ?)", (number, shown))

    def _referred(self, tables: list[str], columns: tuple[str, ...]) -> set[int]:
        found: set[int] = set()
        for table in tables:
            here = [r[1] for r in self.db.execute(f"PRAGMA main.table_info({_quoted(table)})")]
            for column in set(columns) & set(here):
                query = f"SELECT DISTINCT {_quoted(column)} FROM main.{_quoted(table)}"
                found |= {number for (number,) in self.db.execute(query)}
        return found - {None}

    def _masked(self, value: object) -> str | None:
        return None if value is None else self.masker.mask(str(value))

    def _base_name(self, value: object) -> str | None:
        """The executable alone, without its path and its arguments."""
        return None if value is None else self.masker.mask(re.split(r"[/\\]", str(value))[-1])

    def _any_gpu(self, value: object) -> str | None:
        """A number that tells GPUs apart, and does not tell which they are."""
        if value is None:
            return None
        return self._uuids.setdefault(str(value), f"GPU-{len(self._uuids) + 1}")

    def _texts_of(self, target: Path) -> Iterator[tuple[str]]:
        with closing(sqlite3.connect(f"file:{quote(str(target))}?mode=ro", uri=True)) as db:
            for (table,) in db.execute("SELECT name FROM sqlite_master").fetchall():
                for _, column, kind, *_ in db.execute(f"PRAGMA table_info({_quoted(table)})"):
                    if kind == "TEXT" and column != "uuid":
                        yield from db.execute(
                            f"SELECT DISTINCT {_quoted(column)} FROM {_quoted(table)} "
                            f"WHERE {_quoted(column)} IS NOT NULL"
                        )


def communication(names: Iterable[str]) -> set[str]:
    """Those of the kernels that move data between GPUs: a library's, and needed to tell them."""
    frame = pl.DataFrame({"name": list(names)}, schema={"name": pl.String})
    patterns = [row["pattern"] for row in data.shipped("communication")["communication"]]
    told = pl.any_horizontal(pl.col("name").str.contains(p) for p in patterns)
    return set(frame.filter(told)["name"])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
