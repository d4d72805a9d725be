"""The notebook of the documentation runs from top to bottom, and says what it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def source() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def executed() -> Any:
    """The notebook with the outputs of this run; an error in a cell is an error here."""
    from nbclient import NotebookClient

    notebook = source()
    NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    return notebook


def outputs(notebook: Any, beginning: str) -> dict[str, str]:
    """What the cell that begins so shows, by kind."""
    (cell,) = (c for c in notebook.cells if c.source.startswith(beginning))
    return dict(cell.outputs[-1]["data"])


def test_it_is_stored_without_outputs() -> None:
    nbformat.validate(source())
    assert [c for c in source().cells if c.cell_type == "code" and c.outputs] == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_it_runs_and_shows_what_it_promises(executed: Any) -> None:
    assert "Fix input-starved first" in outputs(executed, "starved = tl.open")["text/html"]
    assert "num_workers" in outputs(executed, "starved.diagnose()")["text/html"]
    assert "vegaEmbed(" in outputs(executed, "starved.plot.timeline")["text/html"]
    assert "backward" in outputs(executed, "graph.graph_operations")["text/html"]
    assert "cudagraph.json.gz" in outputs(executed, "import tempfile")["text/plain"]
