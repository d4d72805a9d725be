"""Roles that the shipped patterns give to names of ranges as frameworks write them."""

from __future__ import annotations

import polars as pl
import pytest

from tracelens.options import Options
from tracelens.settings import Settings
from tracelens.steps import name_role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("[pl][profile][Strategy]SingleDeviceStrategy.training_step", "forward"),
        ("[pl][profile][Strategy]SingleDeviceStrategy.validation_step", "evaluation"),
        ("[pl][profile][Strategy]SingleDeviceStrategy.backward", "backward"),
        ("[pl][profile][LightningModule]Net.optimizer_step", "optimizer"),
        ("[pl][profile][LightningModule]Net.optimizer_zero_grad", "zero_grad"),
        ("[pl][profile][Strategy]SingleDeviceStrategy.batch_to_device", "data"),
        ("[pl][profile][_TrainingEpochLoop].train_dataloader_next", "data"),
        ("[pl][profile]run_training_batch", None),
        ("training_step", None),  # a program's own may be the whole iteration
        ("training_step_and_backward", None),
        ("DeepSpeedEngine.step", "optimizer"),
        ("Optimizer.step#AdamW.step", "optimizer"),
        ("gradient_clipping", "optimizer"),
    ],
)
def test_names_of_frameworks(name: str, role: str | None) -> None:
    frame = pl.DataFrame({"domain": [""], "label": [name], "is_emitted": [False]})
    frames = dict.fromkeys(name_role.READS, frame)
    assert name_role.build(frames, Options(), Settings())["role"].to_list() == [role]
