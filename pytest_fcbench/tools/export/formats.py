"""The formats of ``fcbench export``: a row for each, and a module that is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import cast

from pytest_fcbench.tools.export.order import FileFormat, TextFormat

FOLDER = ""
"""Stands for the ending of a format that is a folder."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format: what it is for, how its files end, and what it needs."""

    name: str
    purpose: str
    module: str
    """The module of this package that writes it."""
    texts: tuple[str, ...] = ()
    """Endings of its text files; the first is the form that is printed without a file."""
    files: tuple[str, ...] = ()
    """Endings of its other files; ``FOLDER`` where it is a folder."""
    extras: Mapping[str, str] = field(default_factory=dict)
    """The extra that an ending needs."""
    options: tuple[str, ...] = ()
    """Options that it takes beside the common ones."""
    takes_several: bool = True
    """False where it holds one run."""
    has_answers: bool = False
    """True where it holds the answers of the model."""

    def load_text_format(self) -> TextFormat:
        """Import the module of a format that is text."""
        # A module cannot declare that it implements a protocol.
        return cast("TextFormat", import_module(f"{__package__}.{self.module}"))

    def load_file_format(self) -> FileFormat:
        """Import the module of a format that is a file or a folder."""
        return cast("FileFormat", import_module(f"{__package__}.{self.module}"))


FORMATS: Mapping[str, ExportFormat] = {
    each.name: each
    for each in (
        ExportFormat("csv", "numbers for spreadsheets", "csv_rows", texts=(".csv",), options=("per",)),
        ExportFormat("jsonl", "a JSON object per line", "json_rows", texts=(".jsonl",), options=("per",)),
        ExportFormat(
            "parquet",
            "typed columns",
            "parquet_rows",
            files=(".parquet",),
            extras={".parquet": "data"},
            options=("per",),
        ),
        ExportFormat(
            "latex", "a table of scores for a paper", "latex_table", texts=(".tex",), options=("profile",)
        ),
        ExportFormat("markdown", "a table of scores", "markdown_table", texts=(".md",), options=("profile",)),
        ExportFormat(
            "plot",
            "a chart as SVG or PNG",
            "plots.files",
            texts=(".svg",),
            files=(".png",),
            extras={".png": "report"},
            options=("chart", "metric", "profile"),
        ),
        ExportFormat(
            "model-index",
            "the results in the front matter of a model card",
            "model_index",
            texts=(".md",),
            options=("name",),
        ),
        ExportFormat(
            "inspect",
            "a log that inspect_ai reads",
            "inspect_log",
            texts=(".json",),
            extras={".json": "inspect"},
            options=("profile",),
            takes_several=False,
            has_answers=True,
        ),
        ExportFormat(
            "mlflow",
            "a run of MLflow",
            "mlflow_runs",
            files=(FOLDER,),
            extras={FOLDER: "mlflow"},
            options=("name",),
        ),
        ExportFormat(
            "wandb",
            "an offline run of Weights & Biases",
            "wandb_runs",
            files=(FOLDER,),
            extras={FOLDER: "wandb"},
            options=("name",),
        ),
        ExportFormat(
            "badge",
            "a badge as SVG, or as JSON for shields.io",
            "badge",
            texts=(".svg", ".json"),
            options=("metric", "name", "profile"),
            takes_several=False,
        ),
        ExportFormat(
            "comment",
            "a comment on a pull request",
            "pull_request_comment",
            texts=(".md",),
            options=("baseline",),
            takes_several=False,
        ),
    )
}
"""Formats by name, in the order of the help."""
