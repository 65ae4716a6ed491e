"""The README for a package index, which knows no addresses of the repository.

hatchling runs this when it builds. An index shows neither pictures nor links that are
relative: with a project URL named "Source" in pyproject.toml they become absolute, at
the tag of the version. Without one, the pictures are left out, and links become text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = r"<picture>.*?</picture>\n+"
SRC = r'\b(src|srcset)="(?!https:)'
LINK = r"\[([^\]]+)\]\((?!https:)([^)]+)\)"


def readme_for_index(text: str, version: str, source: str | None) -> str:
    """The README *text*, with addresses below *source*, a repository on GitHub."""
    if source is None:
        text = re.sub(PICTURE, "", text, flags=re.DOTALL)
        return re.sub(LINK, r"\1", text)
    text = re.sub(SRC, rf'\1="{source}/raw/v{version}/', text)
    return re.sub(LINK, rf"[\1]({source}/blob/v{version}/\2)", text)


class CustomMetadataHook(MetadataHookInterface):
    """Set the readme, which pyproject.toml says is dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md, and write it as the index needs it."""
        text = Path(self.root, "README.md").read_text("utf-8")
        source = metadata.get("urls", {}).get("Source")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": readme_for_index(text, metadata["version"], source),
        }
