"""URLs: fetched once to local disk. S3 is a server on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from exports import Call, Kernel, make_export

import tracelens as tl
from tracelens.inputs import Store, expand, localise, shown

pytest.importorskip("fsspec")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    kernels = [Kernel(i * 100, i * 100 + 50, i) for i in range(1, 9)]
    calls = [Call(i * 100 - 30, i * 100 - 20, i) for i in range(1, 9)]
    return make_export(tmp_path / "run.sqlite", kernels=kernels, calls=calls)


def test_a_url_reads_as_the_file(database: Path) -> None:
    trace = tl.open(f"file://{database}")
    assert trace.names == [f"file://{database}"]
    assert trace.report()["trace"]["counts"] == tl.open(database).report()["trace"]["counts"]


def test_progress_is_told(database: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    localise(f"file://{database}", Store(tmp_path / "s"), lambda *given: told.append(given))
    size = database.stat().st_size
    assert told[-1] == ("run.sqlite", size, size)


def test_folders_and_patterns(database: Path) -> None:
    folder = f"file://{database.parent}"
    assert expand([folder]) == [f"file://{database}"]
    assert expand([f"{folder}/*.sqlite"]) == [f"file://{database}"]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://me:secret@host/a/run.sqlite?token=secret", "https://host/a/run.sqlite"),
        ("s3://bucket/run.sqlite", "s3://bucket/run.sqlite"),
        ("s3://bucket/run?.sqlite", "s3://bucket/run?.sqlite"),
        ("/a/b@c/run.sqlite?x", "/a/b@c/run.sqlite?x"),
    ],
)
def test_secrets_in_urls_are_not_shown(url: str, told: str) -> None:
    assert shown(url) == told


def test_a_web_address_with_a_query(database: Path, tmp_path: Path) -> None:
    with serving(database.parent) as address:
        trace = tl.open(f"{address}/run.sqlite?token=secret", cache=False)
        assert trace.report()["trace"]["counts"]["kernels"] == 8
        assert trace.names == [f"{address}/run.sqlite"]
        with pytest.raises(tl.TracelensError) as caught:
            tl.open(f"{address}/absent.sqlite?token=secret", cache=False)
    assert "secret" not in str(caught.value)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A web server on loopback over the files of a folder."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///nowhere/run.sqlite", "does not exist"),
        ("nosuchprotocol://a/run.sqlite", "cannot be opened"),
        ("file:///nowhere/*.sqlite", "no recordings"),
    ],
)
def test_what_is_not_there_is_said(url: str, words: str) -> None:
    with pytest.raises(tl.TracelensError, match=words):
        tl.open(url)


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(tl.TracelensError, match=r"tracelens-gpu\[remote\]"):
        tl.open("s3://bucket/run.sqlite")


@pytest.fixture
def bucket(database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket of an S3 that is only here, with two ranks of a run in it."""
    pytest.importorskip("s3fs")
    server_module = pytest.importorskip("moto.server")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for key, value in {
        "AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():  # fmt: skip
        monkeypatch.setenv(key, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    fs = s3fs.S3FileSystem()
    fs.makedirs("profiles", exist_ok=True)
    for rank in range(2):
        fs.put_file(str(database), f"profiles/job/run.rank{rank}.sqlite")
    yield fs
    server.stop()
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_s3(bucket: Any, database: Path) -> None:
    one = tl.open("s3://profiles/job/run.rank1.sqlite")
    assert one.devices()["rank"].to_list() == [1]
    both = tl.open("s3://profiles/job/")
    assert both.names == [f"s3://profiles/job/run.rank{rank}.sqlite" for rank in range(2)]
    counts = both.report()["trace"]["counts"]
    assert counts["kernels"] == 2 * tl.open(database).report()["trace"]["counts"]["kernels"]
    with pytest.raises(tl.TracelensError, match="does not exist"):
        tl.open("s3://profiles/job/absent.sqlite")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_s3_is_fetched_again_only_when_it_changed(bucket: Any, tmp_path: Path) -> None:
    url, store = "s3://profiles/job/run.rank0.sqlite", Store(tmp_path / "store")
    first = localise(url, store)
    assert localise(url, store) == first
    bucket.pipe_file("profiles/job/run.rank0.sqlite", b"another")
    bucket.invalidate_cache()
    assert localise(url, store).read_bytes() == b"another"
