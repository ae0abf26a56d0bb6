"""Pictures of one journey after each other, with a line of text under each, as one moving picture."""

import io
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, ViewportSize

WINDOW: ViewportSize = {"width": 1280, "height": 800}
SCALE = 0.75
CAPTION_PX = 44
TEXT_PX = 19
COLOURS = 128
"""Of each picture's palette: the console has few colours, and a picture less is a quarter of a MB."""
PAPER, INK = (23, 28, 36), (236, 240, 245)


@dataclass(slots=True)
class Tour:
    page: Page
    pictures: list[Image.Image] = field(default_factory=list)
    shown_ms: list[int] = field(default_factory=list)

    def show(self, caption: str, *, ms: int = 2_600) -> None:
        """The page as it is now, for so long."""
        shot = Image.open(io.BytesIO(self.page.screenshot(animations="disabled"))).convert("RGB")
        width, height = int(shot.width * SCALE), int(shot.height * SCALE)
        picture = Image.new("RGB", (width, height + CAPTION_PX), PAPER)
        picture.paste(shot.resize((width, height), Image.Resampling.LANCZOS))
        draw = ImageDraw.Draw(picture)
        font = ImageFont.load_default(size=TEXT_PX)
        draw.text((18, height + CAPTION_PX / 2), caption, fill=INK, font=font, anchor="lm")
        self.pictures.append(picture.quantize(COLOURS, dither=Image.Dither.NONE))
        self.shown_ms.append(ms)

    def save(self, path: Path) -> None:
        first, *rest = self.pictures
        first.save(
            path,
            save_all=True,
            append_images=rest,
            duration=self.shown_ms,
            loop=0,
            optimize=True,
        )
