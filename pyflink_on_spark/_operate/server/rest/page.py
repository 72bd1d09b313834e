"""The page on the REST API: three files that need nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from pyflink_on_spark._operate.server.rest.routing import Answer, Request, Router

_FOLDER = Path(__file__).with_name("page_files")
PAGES = {
    "/": ("index.html", "text/html; charset=UTF-8"),
    "/page.css": ("page.css", "text/css; charset=UTF-8"),
    "/page.js": ("page.js", "text/javascript; charset=UTF-8"),
}
"""The files by path, with their types."""


class Page:
    """Answers the requests of a browser for the page itself."""

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        for path in PAGES:
            router.add("GET", path, self.file)

    def file(self, request: Request) -> Answer:
        """Return a file."""
        name, kind = PAGES[request.path]
        return Answer((_FOLDER / name).read_bytes(), kind=kind)
