"""The description for a package index: the README, whose links to files of the repository lead nowhere there.

Where ``project.urls`` names the repository, such a link becomes one to its file there; otherwise its text is kept and
the link dropped, since a link that leads nowhere is worse than none. Everything else is in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
RELATIVE_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def description() -> str:
    """The README with links that work anywhere."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = project.get("urls", {}).get("Repository", "").rstrip("/")

    def replaced(found: re.Match[str]) -> str:
        image, text, target = found.groups()
        if repository:
            kind = "raw" if image else "blob"
            return f"{image}[{text}]({repository}/{kind}/main/{target})"
        return "" if image else text

    return RELATIVE_LINK.sub(replaced, (ROOT / "README.md").read_text(encoding="utf-8"))


setup(long_description=description(), long_description_content_type="text/markdown")
