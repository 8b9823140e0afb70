# SPDX-License-Identifier: Apache-2.0
"""The recipes in Python, tests/programs/*.py: each checks its own results."""
import pathlib
import subprocess
import sys

import pytest

RECIPES = sorted((pathlib.Path(__file__).resolve().parents[3] / "tests" / "programs").glob("*.py"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_recipe(recipe):
    done = subprocess.run([sys.executable, "-W", "error", recipe], capture_output=True, text=True, timeout=300)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0 and done.stdout.endswith("PASSED\n"), done.stdout + done.stderr


def test_all_are_listed():
    """In the table of programs, beside their equals in C."""
    table = (RECIPES[0].parent / "README.md").read_text()
    assert len(RECIPES) >= 12 and [r.name for r in RECIPES if f"({r.name})" not in table] == []
