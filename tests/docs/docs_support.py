# docs_support.py -- the documents, parted into prose and blocks.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
)


def prose_of(path: Path) -> str:
    """The document with empty lines in the place of its code, so that lines keep their numbers."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    return text
