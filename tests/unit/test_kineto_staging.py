"""What staging makes of a torch.profiler trace: one test a quirk, on a few events each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import PID, host, kernel, memcpy, memset, staged, trace_text, write_trace

import tracelens
from tracelens import sqlfiles
from tracelens.engine import Engine
from tracelens.loaders import open_source
from tracelens.loaders.kineto_values import exact_nanoseconds, nanoseconds

BASE_NS = 1_790_857_026_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.json"


def described(engine: Engine, name: str) -> list[tuple[str, str]]:
    engine.need(name)
    rows = engine.connection.execute(f'DESCRIBE "{name}"').fetchall()
    return [(row[0], re.sub(r"^ENUM\(.*\)$", "ENUM", row[1])) for row in rows]


@pytest.mark.parametrize("name", sqlfiles.staging("nsys"))
def test_columns_and_types_are_those_of_nsys(path: Path, name: str) -> None:
    engine = Engine([open_source(write_trace(path, [kernel(1, 2)]))])
    declared = [(c.name, c.type) for c in sqlfiles.staging("nsys")[name].columns]
    assert described(engine, name) == declared


@settings(deadline=None)
@given(st.integers(-(10**15), 10**15), st.integers(0, 2**52))
def test_text_of_microseconds_is_exact(start_ns: int, more_ns: int) -> None:
    ns = start_ns + more_ns
    sign, whole, decimals = "-" * (ns < 0), abs(ns) // 1000, abs(ns) % 1000
    assert exact_nanoseconds(f"{sign}{whole}.{decimals:03}") == ns


@settings(deadline=None)
@given(st.lists(st.integers(-(2**43 * 1000 - 1), 2**43 * 1000 - 1), min_size=1))
def test_doubles_below_a_base_time_are_exact(values_ns: list[int]) -> None:
    found = nanoseconds([float(f"{ns / 1000:.3f}") for ns in values_ns])
    assert found is not None
    assert found.tolist() == [exact_nanoseconds(f"{ns / 1000:.3f}") for ns in values_ns]


def test_nanoseconds_of_absolute_times_are_exact(path: Path) -> None:
    # A double tells only quarters of a microsecond apart here.
    text = trace_text([kernel(1, 2), kernel(3, 4)])
    text = text.replace('"ts": 1,', '"ts": 1712195495876224.123,').replace(
        '"ts": 3, "dur": 4', '"ts": 1712195495876224.999, "dur": 4.001'
    )
    path.write_text(text)
    assert staged(path, "gpu_op", "start_ns", "end_ns") == [
        (1712195495876224123, 1712195495876226123),
        (1712195495876224999, 1712195495876229000),
    ]


def test_base_time_is_that_of_the_clock(path: Path) -> None:
    write_trace(path, [kernel(5114209557722.532, 1)], baseTimeNanoseconds=BASE_NS)
    assert staged(path, "capture_info", "utc_start_ns") == [BASE_NS]
    assert staged(path, "gpu_op", "start_ns") == [5114209557722532]


def test_without_base_time_absolute_times_count_from_1970(path: Path) -> None:
    assert staged(
        write_trace(path, [kernel(1661203462598738, 19)]), "capture_info", "utc_start_ns"
    ) == [0]
    assert staged(write_trace(path, [kernel(100, 19)]), "capture_info", "utc_start_ns") == [None]


def test_end_of_the_capture_is_not_the_record_window_end(path: Path) -> None:
    span = {
        "ph": "X",
        "cat": "Trace",
        "name": "PyTorch Profiler (0)",
        "ts": 10,
        "dur": 90,
        "pid": "Spans",
    }
    end = {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 9_000_000}
    write_trace(path, [kernel(20, 2), span | {"tid": "PyTorch Profiler"}, end])
    assert staged(path, "capture_info", "duration_ns") == [100_000]


def test_categories_of_2021(path: Path) -> None:
    events = [
        kernel(5, 2, correlation=1) | {"cat": "Kernel", "tid": "stream 7"},
        memset(8, 1) | {"cat": "Memset", "tid": "stream 7"},
        memcpy(9, 1, "Memcpy HtoD (Pageable -> Device)") | {"cat": "Memcpy"},
        host("Runtime", 1, 2, "cudaLaunchKernel", tid="1890023232", correlation=1),
        host("Operator", 0, 4, "aten::add", tid="1890023232"),
        host("Operator", 0, 9, "ProfilerStep#6", tid="1890023232"),
    ]
    write_trace(path, events)
    assert staged(path, "gpu_op", "kind") == ["kernel", "memset", "memcpy"]
    assert staged(path, "api_call", "correlation_id") == [1]
    assert staged(path, "operator", "name") == ["aten::add", "ProfilerStep#6"]
    assert staged(path, "host_range", "name") == ["ProfilerStep#6"]


def test_ids_of_any_kind_become_dense_numbers(path: Path) -> None:
    tids = [-1029147072, 140665144999936, "1890023232", 1890023232, "main", 7]
    write_trace(path, [host("cpu_op", i, 1, f"op{i}", tid=tid) for i, tid in enumerate(tids)])
    # The number and its text are one thread.
    assert staged(path, "operator", "thread_id") == [0, 1, 2, 2, 3, 4]
    assert staged(path, "thread_info", "thread_id", "tid") == [
        (0, -1029147072), (1, 140665144999936), (2, 1890023232), (3, None), (4, 7),
    ]  # fmt: skip
    assert staged(path, "process_info", "pid") == [PID]


def test_names_of_processes_and_threads(path: Path) -> None:
    where = {"ph": "M", "ts": 0, "pid": PID}
    write_trace(
        path,
        [
            host("cpu_op", 1, 1, "aten::mm", tid=600),
            where | {"name": "process_name", "tid": 0, "args": {"name": "/usr/bin/python3"}},
            where
            | {"name": "thread_name", "tid": 600, "args": {"name": "thread 600 (pt_autograd_0)"}},
        ],
    )
    assert staged(path, "process_info", "name") == ["python3"]
    assert staged(path, "thread_info", "tid", "name") == [(600, "pt_autograd_0")]


def test_operations_belong_to_the_process_that_calls_cuda(path: Path) -> None:
    events = [
        host("cpu_op", 0, 1, "aten::zeros") | {"pid": 1},
        host("cuda_runtime", 1, 1, "cudaLaunchKernel", correlation=9) | {"pid": 2},
        kernel(5, 1, correlation=9, device=3),
    ]
    write_trace(path, events)
    [(op_process, device, correlation)] = staged(
        path, "gpu_op", "process_id", "device_id", "correlation_id"
    )
    assert staged(path, "api_call", "process_id", "correlation_id") == [(op_process, correlation)]
    assert device == op_process << 8 | 3


def test_operation_without_launch_is_kept(path: Path) -> None:
    write_trace(path, [kernel(5, 1, correlation=9), kernel(7, 1, correlation=0)])
    assert staged(path, "gpu_op", "correlation_id") == [9, None]


def test_operation_without_time_is_lost_and_counted(path: Path) -> None:
    write_trace(path, [kernel(0, 0), kernel(5, -2), kernel(7, 1) | {"ts": None}])
    assert staged(path, "lost_op", "kind", "count") == [("kernel", 1)]
    assert staged(path, "gpu_op", "start_ns", "end_ns") == [(5000, 5000)]
    source = open_source(path)
    source.load(["gpu_op"])
    assert [code for code, _, _ in source.info.notes] == ["unreadable-events"]


def test_copies_by_direction_and_memory(path: Path) -> None:
    names = [
        "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)",
        "Memcpy DtoH (Device -> Pageable)", "Memcpy PtoP (Device -> Device)", "Memcpy",
    ]  # fmt: skip
    write_trace(path, [memcpy(i, 1, name, bytes=8) for i, name in enumerate(names)])
    assert staged(path, "gpu_op", "copy_kind", "is_pageable", "bytes") == [
        ("HtoD", True, 8), ("HtoD", False, 8), ("DtoH", True, 8), ("PtoP", False, 8),
        ("other", False, 8),
    ]  # fmt: skip


def test_grid_and_block(path: Path) -> None:
    write_trace(path, [kernel(1, 1, grid=[8, 16, 5], block=[128, 1, 1]), kernel(3, 1)])
    assert staged(path, "gpu_op", "grid", "block") == [(640, 128), (None, None)]


def test_short_names_of_kernels(path: Path) -> None:
    names = {
        "void at::native::(anonymous namespace)::layer_norm<float>(int, float*)": "layer_norm",
        "ncclDevKernel_AllReduce(ncclArgs<4096ul>)": "ncclDevKernel_AllReduce",
        "_ZN2ck16tensor_operationE": "_ZN2ck16tensor_operationE",
        "ampere_sgemm_128x64_nn": "ampere_sgemm_128x64_nn",
    }
    write_trace(path, [kernel(i, 1, name) for i, name in enumerate(names)])
    assert dict(staged(path, "op_name", "name", "short_name")) == names


def test_ranges_are_annotations_of_the_host(path: Path) -> None:
    events = [
        host("user_annotation", 0, 9, "ProfilerStep#3"),
        host("user_annotation", 1, 2, "nccl:all_reduce"),
        host("gpu_user_annotation", 0, 9, "ProfilerStep#3") | {"pid": 0, "tid": 7},
        host("user_annotation", 4, 5, "forward", finished=False),
    ]
    write_trace(path, events)
    assert staged(path, "host_range", "name", "domain", "style", "is_open") == [
        ("ProfilerStep#3", "", "push_pop", False),
        ("nccl:all_reduce", "NCCL", "push_pop", False),
        ("forward", "", "push_pop", True),
    ]


def test_operators_with_shapes_and_the_forward_thread(path: Path) -> None:
    events = [
        host(
            "cpu_op",
            0,
            1,
            "aten::mm",
            tid=10,
            Sequence_number=5,
            Fwd_thread_id=0,
            Input_Dims=[[2, 3], []],
        ),
        host("cpu_op", 9, 1, "MmBackward0", tid=20, Sequence_number=5, Fwd_thread_id=1),
        host("cpu_op", 11, 1, "aten::t", tid=20),
    ]
    write_trace(path, events)
    columns = ("name", "thread_id", "sequence_number", "forward_thread_id", "input_shapes")
    assert staged(path, "operator", *columns) == [
        ("aten::mm", 0, 5, None, "[[2,3],[]]"),
        ("MmBackward0", 1, 5, 0, None),
        ("aten::t", 1, None, None, None),
    ]


def test_python_frames_keep_their_names(path: Path) -> None:
    events = [
        kernel(5, 2),
        host("python_function", 1, 8, "/home/a/train.py(12): step", Python_id=1),
        host("python_function", 2, 3.5, "<built-in method mm of type object at 0x7f>", tid=20),
        host("cpu_op", 3, 1, "aten::mm", tid=20),
    ]
    write_trace(path, events)
    assert staged(path, "python_frame", "name", "thread_id", "start_ns", "end_ns") == [
        ("/home/a/train.py(12): step", 0, 1000, 9000),
        ("<built-in method mm of type object at 0x7f>", 1, 2000, 5500),
    ]
    frames = tracelens.open(path).sql("SELECT thread, duration_ms FROM python_frames")
    assert frames.fetchall() == [(str(PID), 0.008), ("20", 0.0035)]


def test_labels_of_annotated_graphs(path: Path) -> None:
    events = [
        kernel(1, 1, graph_node_id=2 << 32 | 5) | {"name": "k"},
        kernel(3, 1)
        | {"args": {"device": 0, "stream": 62, "original_stream": 7, "name": "attention"}},
        kernel(5, 1)
        | {"args": {"device": 0, "stream": 7, "name": "mlp", "autograd_phase": "backward"}},
    ]
    write_trace(path, events)
    assert staged(path, "gpu_op", "label", "label_phase", "stream_id", "graph_node_id") == [
        (None, None, 7, 8589934597),
        ("attention", None, 7, None),
        ("mlp", "backward", 7, None),
    ]


def test_of_a_key_that_stands_twice_the_last_wins(path: Path) -> None:
    text = trace_text([kernel(1, 1, block=[32, 1, 1], device=1)])
    path.write_text(
        text.replace("}}]}", ', "name": "outer", "name": "inner", "block": "mlp.3"}}]}')
    )
    assert staged(path, "gpu_op", "label", "block", "device_id") == [("inner", None, 1)]


def test_collectives_eager_and_annotated(path: Path) -> None:
    eager = {
        "Collective_name": "_allgather_base",
        "In_msg_nelems": 1024,
        "dtype": "BFloat16",
        "Group_size": 2,
    }
    group = {"Process_Group_Name": "1", "Process_Group_Description": "tp_pg", "Seq": 4}
    label = {"name": "all_reduce", "In msg nelems": "2048", "Group size": "2", "dtype": "float32"}
    write_trace(
        path,
        [
            kernel(1, 1),
            kernel(3, 1, **eager, **group),
            kernel(5, 1) | {"args": {"device": 0, "stream": 7, "Process Group Name": "0"} | label},
            kernel(7, 1, Collective_name="alltoallv", In_msg_nelems=3, dtype="Opaque"),
        ],
    )
    columns = (
        "op_id",
        "collective",
        "communicator",
        "group_size",
        "sequence_number",
        "message_bytes",
    )
    assert staged(path, "collective_op", *columns) == [
        (1, "all_gather", "tp_pg (1)", 2, 4, 2048),
        (2, "all_reduce", "0", 2, None, 8192),
        (3, "all_to_all", "", None, None, None),
    ]


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("allreduce", "all_reduce"),
        ("allreduce_coalesced", "all_reduce"),
        ("all_gather", "all_gather"),
        ("allgather_into_tensor_coalesced", "all_gather"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("reduce_scatter_tensor_coalesced", "reduce_scatter"),
        ("broadcast", "broadcast"),
        ("reduce", "reduce"),
        ("send", "send"),
        ("recv", "recv"),
        ("all_to_all", "all_to_all"),
        ("strange_one", "strange_one"),
    ],
)
def test_names_of_collectives(path: Path, raw: str, plain: str) -> None:
    write_trace(path, [kernel(1, 1, Collective_name=raw)])
    assert staged(path, "collective_op", "collective") == [plain]


def test_memory_of_the_device_only(path: Path) -> None:
    def event(ts: int, number: int, device_type: int) -> dict[str, object]:
        args = {"Bytes": number, "Addr": 64, "Device Id": 0, "Device Type": device_type}
        totals = {"Total Allocated": 900, "Total Reserved": 1000}
        where = {"name": "[memory]", "ph": "i", "pid": PID, "tid": PID, "ts": ts}
        return {"cat": "cpu_instant_event", **where, "args": args | totals}

    write_trace(path, [event(1, 512, 1), event(2, 64, 0), event(3, -512, 1)])
    assert staged(path, "memory_event", "at_ns", "allocated_bytes", "total_allocated_bytes") == [
        (1000, 512, 900),
        (3000, -512, 900),
    ]


def test_waits_name_the_record_they_wait_for(path: Path) -> None:
    wait = {"stream": 24, "correlation": 1389, "device": 0, "wait_on_stream": 20}
    event = {"wait_on_cuda_event_id": 19, "wait_on_cuda_event_record_corr_id": 1385}
    row = {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 1_000_024}
    write_trace(path, [row | {"ts": 5, "dur": 2, "args": wait | event}])
    columns = ("stream_id", "event_id", "correlation_id", "is_record")
    assert sorted(staged(path, "stream_wait", *columns)) == [
        (20, 19, 1385, True),
        (24, 19, 1389, False),
    ]


def test_overhead_belongs_to_the_profiled_process(path: Path) -> None:
    overhead = host("overhead", 3, 4, "Activity Buffer Request") | {"pid": -1, "tid": 0}
    write_trace(path, [overhead, host("cuda_runtime", 1, 1, "cudaLaunchKernel", correlation=1)])
    [process] = staged(path, "process_info", "process_id")
    assert staged(path, "profiler_overhead", "process_id", "start_ns", "end_ns") == [
        (process, 3000, 7000)
    ]


@pytest.mark.parametrize(
    ("name", "header", "rank"),
    [
        ("trace.json", {"distributedInfo": {"rank": 3, "world_size": 8}}, 3),
        ("rank5.json", {"distributedInfo": {"rank": 3}}, 3),
        ("rank5.json", {"distributedInfo": {"backend": "nccl"}}, 5),
        ("run_rank_12.pt.trace.json.gz", {}, 12),
        ("ddp.rank0.pt.trace.json", {"distributedInfo": {"rank": "unknown"}}, 0),
        ("worker0_step_12.json", {}, None),
        ("frank7.json", {}, None),
        ("trace.json", {"distributedInfo": "none"}, None),
    ],
)
def test_rank(tmp_path: Path, name: str, header: dict[str, object], rank: int | None) -> None:
    path = write_trace(tmp_path / name, [kernel(1, 1)], **header)
    assert staged(path, "capture_info", "rank") == [rank]
    assert staged(path, "process_info", "rank") == [rank]


def test_devices(path: Path) -> None:
    devices = [{"id": 0, "name": "NVIDIA H200", "numSms": 132}, {"id": 1, "name": ""}]
    write_trace(path, [kernel(1, 1)], deviceProperties=devices)
    assert staged(path, "device_info", "ordinal", "name", "sm_count") == [
        (0, "NVIDIA H200", 132),
        (1, None, None),
    ]


def test_values_of_the_wrong_kind_are_unknown(path: Path) -> None:
    events = [
        kernel(1, 1, correlation="nine", stream=None, grid="big", bytes=[1]) | {"name": ["a", 1]},
        kernel(3, 1) | {"args": "none", "pid": {"a": 1}, "cat": "kernel"},
        {"ph": "X", "cat": ["kernel"], "name": "k", "ts": 1, "dur": 1},
        {"ph": "X", "cat": "cpu_op", "name": None, "pid": [1], "tid": {}, "ts": 1, "dur": 1},
    ]
    write_trace(path, events)
    assert staged(path, "gpu_op", "correlation_id", "stream_id", "device_id", "grid") == [
        (None, 0, 0, None),
        (None, 0, 0, None),
    ]
    assert staged(path, "operator", "name") == ["(unnamed)"]


def test_two_files_keep_their_ids_apart(tmp_path: Path) -> None:
    paths = [
        write_trace(tmp_path / f"rank{r}.json", [kernel(1, 1), host("cpu_op", 1, 1, "a")])
        for r in (0, 1)
    ]
    frame = Engine([open_source(path) for path in paths]).frame("gpu_op")
    assert frame["process_id"].to_list() == [0, 1 << 24]
    assert frame["device_id"].to_list() == [0, 1 << 32]
    assert frame["op_id"].n_unique() == 2
