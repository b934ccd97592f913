"""Take pictures of all pages; look at each before a commit.

python -m tests.pages FOLDER     all of them, into a folder
python -m tests.pages --write    those that the docs show
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.pages.pages import FOLDER, list_pictures, serve_runs, take_picture, write_pages, write_runs
from tests.present.html.browser import open_browser


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if (chosen.folder is None) != chosen.write:
        parser.error("give a folder or --write")
    to = FOLDER if chosen.write else chosen.folder.absolute()
    to.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        folder = Path(place)
        os.chdir(folder)
        write_runs(folder)
        pages = write_pages(folder)
        with serve_runs(Path("runs")) as runs, open_browser() as chrome:
            addresses = {**{name: path.as_uri() for name, path in pages.items()}, "runs": runs}
            for picture in list_pictures():
                if picture.page in addresses and (picture.kept or not chosen.write):
                    path = take_picture(chrome, addresses[picture.page], picture, to)
                    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
