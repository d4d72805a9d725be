"""Files that are no recording, or no longer one: each is refused in one line with the next step.

Each case says what kind of input it is.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from exports import Call, Kernel, make_export

from tracelens.errors import TracelensError
from tracelens.loaders import nsys_sqlite, open_source
from tracelens.loaders.nsys_schema import TABLES


def export(path: Path, sql: tuple[str, ...] = ()) -> Path:
    """Large enough to span pages."""
    return make_export(
        path,
        kernels=[Kernel(i * 10, i * 10 + 5, correlation=i) for i in range(1, 400)],
        calls=[Call(i * 10 - 3, i * 10 - 1, correlation=i) for i in range(1, 400)],
        sql=sql,
    )


def refusal(path: Path) -> TracelensError:
    with pytest.raises(TracelensError) as caught:
        open_source(path).load(TABLES)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
    assert caught.value.hint
    return caught.value


def damaged(path: Path, change: Callable[[bytes], bytes]) -> Path:
    path.write_bytes(change(export(path).read_bytes()))
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"hello", "neither"),
        (nsys_sqlite.HEADER + bytes(4080), "SQLite"),
    ],
    ids=["empty", "git-lfs", "text", "header-only"],
)
def test_a_file_that_holds_no_database(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.write_bytes(content)
    assert words in str(refusal(path))


def test_another_programs_database(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    assert "no Nsight Systems export" in str(refusal(path))


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    assert "does not exist" in str(refusal(tmp_path / "run.sqlite"))
    assert not list(tmp_path.iterdir())


def test_a_copy_that_stopped_half_way(tmp_path: Path) -> None:
    path = damaged(tmp_path / "run.sqlite", lambda content: content[: len(content) // 2])
    refused = refusal(path)
    assert "cut short" in str(refused)
    assert "again" in refused.hint


def test_a_copy_that_lacks_only_its_last_page(tmp_path: Path) -> None:
    path = damaged(tmp_path / "run.sqlite", lambda content: content[:-1])
    assert "cut short" in str(refusal(path))


def test_only_the_first_page(tmp_path: Path) -> None:
    path = damaged(tmp_path / "run.sqlite", lambda content: content[:4096])
    assert "cut short" in str(refusal(path))


def test_less_than_a_header(tmp_path: Path) -> None:
    path = damaged(tmp_path / "run.sqlite", lambda content: content[:50])
    assert "damaged" in str(refusal(path))


def test_a_page_size_that_cannot_be(tmp_path: Path) -> None:
    path = damaged(tmp_path / "run.sqlite", lambda c: c[:16] + b"\x03\x03" + c[18:])
    assert "damaged" in str(refusal(path))


def test_header_lost_to_a_sparse_copy(tmp_path: Path) -> None:
    path = damaged(tmp_path / "run.sqlite", lambda content: bytes(100) + content[100:])
    assert "begins with zeros" in str(refusal(path))


def test_pages_overwritten_with_noise(tmp_path: Path) -> None:
    noise = bytes(range(1, 256)) * 16
    path = damaged(tmp_path / "run.sqlite", lambda c: c[:4096] + noise * (len(c) // 4096))
    assert "damaged" in str(refusal(path))


def test_a_schema_that_is_no_text(tmp_path: Path) -> None:
    """SQLite's own message quotes the damaged bytes."""
    broken = b"CREATE TABLE CUPTI_ACTIVITY", b"CREATE TAB\x80E \xff\xfe\x80UPTI_ACTIVI"
    path = damaged(tmp_path / "run.sqlite", lambda content: content.replace(*broken))
    assert "damaged" in str(refusal(path))


def test_a_recorders_report_named_as_an_export(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.write_bytes(b"\x08\x96\x01\x12\x00\x00\x1a\x07binary\x00stuff" * 300)
    assert refusal(path).hint.endswith(f"nsys export --type sqlite {path}")


@pytest.mark.parametrize("suffix", [".nsys-rep", ".qdrep"])
def test_a_recorders_report(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    path.write_bytes(b"\x08\x96\x01" * 300)
    assert "not an export" in str(refusal(path))


def test_a_web_page_saved_instead_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.write_text("<!DOCTYPE html><html><body>Sign in</body></html>")
    assert "neither" in str(refusal(path))


def test_folder(tmp_path: Path) -> None:
    assert "is a folder" in str(refusal(tmp_path))


def test_link_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.symlink_to(tmp_path / "gone.sqlite")
    assert "link" in str(refusal(path))


def test_link_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.symlink_to(path)
    assert "cannot be read" in str(refusal(path))


def test_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    os.mkfifo(path)
    assert "pipe" in str(refusal(path))


def test_forbidden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = export(tmp_path / "run.sqlite")

    def forbid(*_: object) -> None:
        raise PermissionError(13, "Permission denied")  # the tests may run as root

    monkeypatch.setattr(Path, "open", forbid)
    assert "may not be read" in str(refusal(path))


@pytest.mark.parametrize("name", ["a\nb.sqlite", "a\x1b[31mb.sqlite", "a\u202eb.sqlite"])
def test_the_message_stays_one_plain_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    with pytest.raises(TracelensError) as caught:
        open_source(tmp_path / name)
    assert str(caught.value).isprintable()


def test_a_path_with_a_nul() -> None:
    with pytest.raises(TracelensError, match="cannot be read"):
        open_source("a\0b")


def test_an_export_without_anything_recorded_is_read(tmp_path: Path) -> None:
    source = open_source(make_export(tmp_path / "run.sqlite"))
    assert all(t.num_rows == 0 for n, t in source.load(TABLES).items() if "META" not in n)


@pytest.mark.parametrize(
    ("version", "codes"),
    [
        (f"{nsys_sqlite.KNOWN_SCHEMA[0]}.{nsys_sqlite.KNOWN_SCHEMA[1]}.9", []),
        (f"{nsys_sqlite.KNOWN_SCHEMA[0]}.{nsys_sqlite.KNOWN_SCHEMA[1] + 1}.0", ["newer-schema"]),
        (f"{nsys_sqlite.KNOWN_SCHEMA[0] + 1}.0", ["newer-schema"]),
        ("none of your business", []),
    ],
)
def test_a_newer_schema_is_noted_and_read(version: str, codes: list[str], tmp_path: Path) -> None:
    tell = f"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '{version}')"
    source = open_source(export(tmp_path / "run.sqlite", (tell,)))
    assert [code for code, _, _ in source.info.notes] == codes
    assert source.load(["CUPTI_ACTIVITY_KIND_KERNEL"])["CUPTI_ACTIVITY_KIND_KERNEL"].num_rows == 399


def test_a_table_that_is_a_view_is_not_run(tmp_path: Path) -> None:
    """A hostile schema: reading a name must not run what somebody wrote there."""
    path = make_export(
        tmp_path / "run.sqlite",
        sql=["CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT load_extension('x') AS start"],
    )
    assert open_source(path).load(TABLES)["CUPTI_ACTIVITY_KIND_KERNEL"].num_rows == 0


def test_a_database_locked_by_its_writer_is_read(tmp_path: Path) -> None:
    path = export(tmp_path / "run.sqlite")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        rows = open_source(path).load(["StringIds"])["StringIds"].num_rows
    assert rows > 0


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty_0byte.sqlite", "empty"),
        ("git_lfs_pointer.sqlite", "Git LFS"),
        ("other_database.sqlite", "no Nsight Systems export"),
        ("header_only_4096__mfu_2gpu_after.sqlite", "cut short"),
        ("truncated_50pct__mfu_2gpu_after.sqlite", "cut short"),
        ("zeroed_header__mfu_2gpu_after.sqlite", "begins with zeros"),
        ("missing.sqlite", "does not exist"),
    ],
)
def test_damaged_files_of_others(name: str, words: str, shared: Path) -> None:
    assert words in str(refusal(shared / "corpus" / "bad" / name))
