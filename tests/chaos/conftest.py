"""The fixtures of the tests that run a project."""

from tests.plugin.conftest import project as project
