"""Recordings that tell what they should keep to themselves."""

from __future__ import annotations

from pathlib import Path

from exports import Call, Kernel, Range, make_export
from traces import host, kernel, write_trace

SECRETS = (
    "quentin", "build-box-17", "quentin.smith@example.com", "hf_AbCdEfGhIjKlMnOpQr", "10.1.2.3",
    "a8f3c29b7d1e4056a8f3c29b7d1e4056", "/home/quentin/work/model.py", "--learning-rate",
    "epoch 1 loss 0.5", "WANDB_API_KEY", "someone-elses-job", "never_used_string",
)  # fmt: skip


def confiding_export(path: Path, names_too: bool = True) -> Path:
    """An export that tells all it can: environment, command line, output, other processes; and, if
    ``names_too``, in the names of its ranges as well."""
    environment = (
        "USER=quentin\nHOME=/home/quentin\nHOSTNAME=build-box-17\nWANDB_API_KEY=" + SECRETS[5]
    )
    names = [
        "iter_0 quentin.smith@example.com",
        "iter_1 /home/quentin/work/model.py",
        "iter_2 hf_AbCdEfGhIjKlMnOpQr",
        "iter_3 on build-box-17 (10.1.2.3)",
        "iter_4 a8f3c29b7d1e4056a8f3c29b7d1e4056",
    ]
    other = 2000 << 24
    return make_export(
        path,
        kernels=[Kernel(i * 100 + 20, i * 100 + 60, i + 1, name="my_gemm") for i in range(5)],
        calls=[Call(i * 100 + 5, i * 100 + 10, i + 1) for i in range(5)],
        ranges=[
            Range(i * 100, i * 100 + 90, name if names_too else f"iter_{i}")
            for i, name in enumerate(names)
        ],
        capture_ns=1000,
        sql=[
            "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid, devStateName, name, nameEnum, value)",
            "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', 'Hostname', 1, 'build-box-17')",
            "CREATE TABLE META_DATA_CAPTURE (name, value)",
            f"INSERT INTO META_DATA_CAPTURE VALUES ('ENVIRONMENT', '{environment}')",
            "INSERT INTO META_DATA_CAPTURE VALUES ('COMMAND', 'python x.py --learning-rate 3')",
            "CREATE TABLE ProcessStreams (globalPid, filenameId, contentId, content)",
            "INSERT INTO ProcessStreams VALUES (1, 1, 1, 'epoch 1 loss 0.5')",
            "CREATE TABLE PROCESSES (globalPid, pid, name)",
            f"INSERT INTO PROCESSES VALUES ({1000 << 24}, 1000, '/home/quentin/env/bin/python3')",
            f"INSERT INTO PROCESSES VALUES ({other}, 2000, '/usr/bin/someone-elses-job')",
            "INSERT INTO StringIds VALUES (900, 'never_used_string')",
            # text where a number belongs
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'quentin' WHERE start = 20",
        ],
    )


def confiding_trace(path: Path, names_too: bool = True) -> Path:
    """A trace with stacks, paths, a host in its header and, if ``names_too``, mail addresses in the
    names of its ranges."""
    who = " quentin@example.org" if names_too else ""
    events = [
        host("cpu_op", 5112234714749.649, 100.5, "aten::mm", Concrete_Inputs=["/home/quentin/x/y"]),
        host("python_function", 0.0, 10.0, "/home/quentin/work/model.py(17): forward"),
        *(
            host("user_annotation", 5112234714749.5 + i * 100, 90.25, f"step {i}{who}")
            for i in range(4)
        ),
        *(
            host("cuda_runtime", 5112234714750.0 + i * 100, 5.0, "cudaLaunchKernel", correlation=i)
            for i in range(1, 4)
        ),
        *(kernel(5112234714760.123 + i * 100, 40.001, "mine", correlation=i) for i in range(1, 4)),
    ]
    return write_trace(
        path,
        events,
        traceName="/home/quentin/out/run.json",
        hostname="build-box-17",
        baseTimeNanoseconds=1790857026000000000,
    )
