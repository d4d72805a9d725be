"""A redacted copy: what is gone from its bytes, what stays in its figures."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confiding import SECRETS, confiding_export, confiding_trace
from exports import Kernel, make_export
from hypothesis import given
from hypothesis import strategies as st

import tracelens
from tracelens.errors import TracelensError
from tracelens.redact import redact, refuse_leaks
from tracelens.redact.names import Masker


def figures(path: Path) -> dict[str, Any]:
    """A report without names."""
    report = tracelens.open(path).report()
    del report["trace"]["files"]
    for row in report["iterations"]["rows"]:
        del row["name"]
    for row in report["kernels"]:
        del row["name"], row["short_name"]
    for row in report["phases"]:
        del row["names"], row["phase"]
    for part in (part for budget in report["budget"] for part in budget["parts"]):
        part.pop("role", None)
    for finding in report["diagnoses"]:
        del finding["title"], finding["explanation"], finding["evidence"], finding["where"]
    return report


@pytest.fixture
def redacted(tmp_path: Path) -> Path:
    source, target = confiding_export(tmp_path / "run.sqlite"), tmp_path / "out.sqlite"
    redact(source, target)
    return target


@pytest.mark.parametrize("secret", SECRETS)
def test_nothing_of_it_is_in_the_bytes(secret: str, redacted: Path) -> None:
    assert secret.encode() not in redacted.read_bytes()


def test_what_is_left_of_names(redacted: Path) -> None:
    with closing(sqlite3.connect(redacted)) as db:
        names = [n for (n,) in db.execute("SELECT text FROM NVTX_EVENTS ORDER BY start")]
        processes = db.execute("SELECT pid, name FROM PROCESSES").fetchall()
    assert names == [
        "iter_0 (mail A)",
        "iter_1 model.py",
        "iter_2 (key A)",
        "iter_3 on (name A1) ((address A1))",
        "iter_4 (key B1)",
    ]
    assert processes == [(1000, "python3")]


def test_figures_stay(tmp_path: Path, redacted: Path) -> None:
    assert figures(redacted) == figures(tmp_path / "run.sqlite")


def test_source_stays_and_nothing_lies_beside(tmp_path: Path) -> None:
    source = confiding_export(tmp_path / "run.sqlite")
    before = source.read_bytes()
    redact(source, tmp_path / "out.sqlite")
    assert source.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.sqlite", "run.sqlite"]


def test_kernels_renamed_but_for_communication(tmp_path: Path) -> None:
    source = make_export(
        tmp_path / "run.sqlite",
        kernels=[
            Kernel(0, 10, name="secret_sauce"),
            Kernel(20, 30, name="secret_sauce"),
            Kernel(40, 50, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
        ],
    )
    redact(source, tmp_path / "out.sqlite", rename_kernels=True)
    operations = tracelens.open(tmp_path / "out.sqlite").operations().sort("start_ns")
    assert operations["name"].to_list() == [
        "kernel 1",
        "kernel 1",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    ]
    assert b"secret_sauce" not in (tmp_path / "out.sqlite").read_bytes()


@pytest.mark.parametrize("trace", ["starved", "cudagraph"])
@pytest.mark.parametrize("rename", [False, True])
def test_sample_traces_keep_their_figures(
    trace: str, rename: bool, sample_traces: Path, tmp_path: Path
) -> None:
    source = sample_traces / f"{trace}.sqlite"
    redact(source, tmp_path / "out.sqlite", rename_kernels=rename)
    assert figures(tmp_path / "out.sqlite") == figures(source)


def test_refusals(tmp_path: Path) -> None:
    source, target = confiding_export(tmp_path / "run.sqlite"), tmp_path / "out.sqlite"
    target.write_text("mine")
    with pytest.raises(TracelensError, match="exists"):
        redact(source, target)
    assert target.read_text() == "mine"
    with pytest.raises(TracelensError, match="never written"):
        redact(source, source, force=True)
    link = tmp_path / "link.sqlite"
    link.symlink_to(source)
    with pytest.raises(TracelensError, match="never written"):
        redact(source, link, force=True)
    with pytest.raises(TracelensError, match="is a folder"):
        redact(source, tmp_path, force=True)
    redact(source, target, force=True)
    assert target.read_bytes().startswith(b"SQLite")


def test_a_copy_that_leaks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TracelensError, match="would still hold") as caught:
        refuse_leaks(tmp_path / "run.sqlite", ["quentin.smith@example.com"])
    assert "smith" not in str(caught.value)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_torch_profiler_traces(suffix: str, tmp_path: Path) -> None:
    source, target = confiding_trace(tmp_path / "a_rank3.json"), tmp_path / f"out{suffix}"
    redact(source, target)
    content = target.read_bytes()
    text = gzip.decompress(content) if suffix.endswith("gz") else content
    assert not [s for s in ("quentin", "build-box-17", "model.py") if s.encode() in text]
    assert json.loads(text)["distributedInfo"] == {"rank": 3}
    assert figures(target) == figures(source)


@pytest.mark.shared
@pytest.mark.parametrize("trace", ["starved", "cudagraph", "ddp.rank1"])
def test_recorded_torch_profiler_traces_keep_their_figures(
    trace: str, shared: Path, tmp_path: Path
) -> None:
    source = shared / "traces" / "kineto" / f"{trace}.pt.trace.json.gz"
    target = tmp_path / f"{trace}.json.gz"
    redact(source, target, rename_kernels=True)
    assert figures(target) == figures(source)


@pytest.mark.shared
@pytest.mark.parametrize("trace", ["two_ranks_2026_2", "saxpy_mpi_2022_2", "lm_osrt_no_nvtx"])
def test_exports_of_others_keep_their_figures(trace: str, shared: Path, tmp_path: Path) -> None:
    source, target = shared / "corpus" / "nsys" / f"{trace}.sqlite", tmp_path / "out.sqlite"
    redact(source, target)
    assert figures(target) == figures(source)


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("iter_30", "iter_30"),
        ("ProfilerStep#7", "ProfilerStep#7"),
        ("aten::addmm, seq = 12, sizes = [[3, 4]]", "aten::addmm, seq = 12, sizes = [[3, 4]]"),
        ("forward/backward", "forward/backward"),
        ("autograd::engine::evaluate_function: MmBackward0", None),
        ("DistributedDataParallel.forward", None),
        ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4>", None),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", None),
        ("token=5", None),
        ("load /data/team/set/part-1.parquet", "load part-1.parquet"),
        (r"C:\Users\bob\train.py:12", "train.py:12"),
        ("see https://wandb.ai/team/run", "see (url A)"),
        ("api_key=Zq8sd0", "(key A1)"),
        ("AKIAIOSFODNN7EXAMPLE", "(key A1)"),
    ],
)
def test_masking(name: str, left: str | None) -> None:
    assert Masker().mask(name) == (name if left is None else left)


def test_what_differs_in_numbers_alone_stays_alike() -> None:
    masker = Masker()
    names = ["job a1@b.org", "job a2@b.org", "job c@d.org", "job a1@b.org"]
    assert [masker.mask(name) for name in names] == [
        "job (mail A1)",
        "job (mail A2)",
        "job (mail B)",
        "job (mail A1)",
    ]


@given(st.text(max_size=80))
def test_masking_twice_changes_nothing(text: str) -> None:
    masker = Masker(["quentin", "build-box-17"])
    once = masker.mask(text)
    assert not masker.leaks(once)
