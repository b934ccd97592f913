"""How the docs are built: ``sphinx-build -W --keep-going -b html docs BUILD``. Needs no network."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "pytest-fcbench"
author = "the pytest-fcbench authors"
project_copyright = f"2026, {author}. Apache-2.0"
release = version_of("pytest-fcbench")
extensions = ["generated", "myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]

highlight_language = "text"
myst_heading_anchors = 3
autodoc_default_options = {
    "members": True,
    "no-value": True,
    "member-order": "bysource",
    "show-inheritance": True,
}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "mixed"

html_theme = "furo"
html_title = "pytest-fcbench"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False
