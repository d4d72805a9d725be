"""The wheel holds the SQL, and nothing that is only for development."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names of the files in a wheel built from this tree."""
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(out)]
    done = subprocess.run([*build, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("tracelens_gpu-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_sql_module_is_in_it(wheel_names: set[str]) -> None:
    modules = {f"tracelens/{p.relative_to(ROOT).as_posix()}" for p in ROOT.glob("sql/**/*.sql")}
    assert "tracelens/sql/staging/nsys/gpu_op.sql" in modules
    assert modules <= wheel_names


def test_it_says_that_it_is_typed(wheel_names: set[str]) -> None:
    assert "tracelens/py.typed" in wheel_names


def test_it_holds_the_package_and_nothing_else(wheel_names: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"tracelens"}
    data = (".sqlite", ".gz", ".csv", ".json")
    assert not [name for name in wheel_names if name.endswith(data)]
