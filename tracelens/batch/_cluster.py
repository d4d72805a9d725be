"""The runs of a batch on an existing Dask cluster (extra ``cluster``).

The scheduler is Dask's: it gives the runs out, and those of a worker that dies to another one.
Workers open the recordings by the same names, so these lie on a shared disk or behind URLs.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from tracelens.batch._plan import Task
from tracelens.batch._work import Result, analyse, lost
from tracelens.cache import tool_fingerprint
from tracelens.errors import TracelensError

_CONNECT_SECONDS = 30


def results(tasks: Sequence[Task], address: str) -> Iterator[Result]:
    """Results as they come.

    Raises TracelensError where the cluster cannot be reached or runs another tracelens.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise TracelensError(
            "--dask needs distributed", hint="pip install 'tracelens-gpu[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:  # a timeout is an OSError
        raise TracelensError(
            f"no Dask scheduler answers at {address} ({error or type(error).__name__})",
            hint="check the address, such as tcp://host:8786",
        ) from None
    with client:
        _refuse_other_tool(client, address)
        batch = uuid.uuid4().hex
        keys = [f"tracelens-{task.run.key}-{batch}" for task in tasks]
        by_key = dict(zip(keys, tasks, strict=True))
        futures = client.map(analyse, tasks, key=keys)
        for future in as_completed(futures, loop=client.loop):
            yield _result(future, by_key[future.key])
            future.release()


def _refuse_other_tool(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        tools = set(client.run(tool_fingerprint).values())
    except (OSError, ImportError, AttributeError):
        raise TracelensError(
            f"no worker of {address} is ready to run tracelens",
            hint="start workers, with the same tracelens installed",
        ) from None
    if tools != {tool_fingerprint()}:
        raise TracelensError(
            f"workers of {address} have another tracelens than this one",
            hint="install the same version everywhere",
        )


def _result(future: Any, task: Task) -> Result:
    try:
        result: Result = future.result()
    except Exception:  # analyse raises nothing: workers died over it, again and again
        return lost(task)
    return result
