"""The pictures of how-to guides whose own code draws them.

    python -m examples.howto_pictures    # from the root; writes into docs/howto/pictures/

Each guide's code is run from top to bottom. Where it saves `row.png` and shows
`pictures/explain_row.png`, the picture is scaled to the width of a page and stored there.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from PIL import Image

HOWTO = Path(__file__).parents[1] / "docs" / "howto"
GUIDES = ("plots", "explain")
WIDTH = 800
#: A picture of bars and lines has few colours; those between them are not missed.
COLOURS = 128


def drawn(text: str, folder: Path) -> None:
    """Run the code of a guide in a folder."""
    scope: dict[str, object] = {}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(block, scope)
    finally:
        os.chdir(before)


def stored(source: Path, to: Path) -> None:
    """A picture in the size of the page."""
    picture = Image.open(source).convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)))
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(to, optimize=True)


def main() -> None:
    for guide in GUIDES:
        text = (HOWTO / f"{guide}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            drawn(text, Path(folder))
            for name in re.findall(rf"\]\(pictures/{guide}_(\w+)\.png\)", text):
                stored(Path(folder, f"{name}.png"), HOWTO / "pictures" / f"{guide}_{name}.png")


if __name__ == "__main__":
    main()
