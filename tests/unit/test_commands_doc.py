"""docs/commands.md names every command, option, view and key there is."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from runs import report

from tracelens import sqlfiles
from tracelens.cli import commands
from tracelens.reports import formats

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
CONTEXT = click.Context(commands)
NAMES = commands.list_commands(CONTEXT)
VIEWS = [name for name, module in sqlfiles.modules().items() if module.layer == "views"]


def section(name: str) -> str:
    """What the page says of one command."""
    return TEXT.partition(f"## `tracelens {name} ")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_and_option_is_documented(name: str) -> None:
    command = commands.get_command(CONTEXT, name)
    assert command is not None
    options = [p.opts[0] for p in command.params if isinstance(p, click.Option)]
    assert section(name)
    assert [option for option in options if f"`{option}" not in section(name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example_and_helps_for_its_options(name: str) -> None:
    command = commands.get_command(CONTEXT, name)
    assert command is not None
    assert f"tracelens {name} " in (command.help or "")
    assert all(p.help for p in command.params if isinstance(p, click.Option))


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_is_documented(name: str) -> None:
    assert f"| `{name}` |" in section("query")


@pytest.mark.parametrize("key", sorted(set(report()) - {"schema", "tool"}))
def test_every_key_of_the_report_is_documented(key: str) -> None:
    assert f"| `{key}` |" in TEXT


def test_every_format_is_documented() -> None:
    assert set(formats()) <= set(section("analyze").replace("\\|", " ").replace("`", " ").split())
