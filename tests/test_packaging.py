"""What is shipped: metadata without dead links, and a source archive with everything that its tests need."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="runs in a checkout or a source archive")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, because other tests may write caches into it while this one builds."""
    folder = tmp_path_factory.mktemp("sdist") / "source"
    made = (".git", ".venv", "build", "dist", "reports", "site", "*_cache", ".hypothesis", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*made))
    return folder


@pytest.fixture(scope="module")
def archive(source: Path) -> tarfile.TarFile:
    pytest.importorskip("setuptools", minversion="77")
    code = f"from setuptools import build_meta; print(build_meta.build_sdist({str(source.parent)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    return tarfile.open(source.parent / done.stdout.strip().splitlines()[-1])


def test_the_description_has_no_link_that_leads_nowhere(archive: tarfile.TarFile) -> None:
    info = next(name for name in archive.getnames() if name.count("/") == 1 and name.endswith("PKG-INFO"))
    file = archive.extractfile(info)
    assert file is not None
    text = file.read().decode()
    assert "Description-Content-Type: text/markdown" in text
    assert "# dfnets" in text
    assert not re.findall(r"\]\((?!https?://|#|mailto:)[^)]+\)", text)


def test_the_source_archive_has_tests_documentation_results_and_data(archive: tarfile.TarFile, source: Path) -> None:
    shipped = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("src/dfnets", "tests", "docs", "benchmarks", "results"):
        files = {
            path.relative_to(source).as_posix()
            for path in (source / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".nbi", ".nbc", ".pyc")
        }
        assert files - shipped == set()
    assert {"Makefile", "constraints.txt", "mkdocs.yml", "pyproject.toml", "setup.py", "CHANGELOG.md"} <= shipped
