"""The pictures of the page's guide, made from the story's screenshots."""
from PIL import Image

# File in docs/guides/images -> scene of the story.
SCENES = {"page-overview": "offline-overview", "page-history": "history", "page-record": "offline", "page-queue": "refused",
          "page-conflict": "conflict"}


def illustrate(pictures, folder):
    """256 colours are enough for a page, in less than half of the bytes."""
    for name, scene in SCENES.items():
        picture = next(pictures.glob(f"[0-9][0-9]-{scene}-laptop-light.png"))
        Image.open(picture).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)
        print(f"page: {name}.png is {picture.name}")
