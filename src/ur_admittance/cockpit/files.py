"""What a browser may load: the page, the meshes of the arm, and the reports of recordings."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from ur_admittance.cockpit.acts import Folder
from ur_admittance.errors import AdmittanceError

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".bin": "application/octet-stream",
}
# Nothing from elsewhere, no page around this one, nothing kept, and the address told to nobody.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Connection": "close",
}


class Answer(NamedTuple):
    """What is sent for a path."""

    status: HTTPStatus
    kind: str
    body: bytes


class Files:
    """The page, read once; and what is asked for by name."""

    def __init__(self, folder: Folder, looks: Callable[[], bytes]) -> None:
        self._folder, self._looks = folder, looks
        root = resources.files("ur_admittance.cockpit") / "page"
        self._page: dict[str, Answer] = {}
        for file in root.iterdir():
            kind = KINDS.get("." + file.name.rpartition(".")[2])
            if file.is_file() and kind:
                self._page["/" + file.name] = Answer(HTTPStatus.OK, kind, file.read_bytes())
        self._page["/"] = self._page["/index.html"]

    def get(self, path: str) -> Answer:
        """What lies at a path; 404 for all that is not known by name."""
        path = unquote(path.partition("?")[0])
        if path in self._page:
            return self._page[path]
        if path == "/looks.bin":
            return Answer(HTTPStatus.OK, KINDS[".bin"], self._looks())
        parts = path.split("/")
        if len(parts) == 4 and parts[1] == "reports":
            return self._report(lambda: self._folder.report(parts[2]), parts[3])
        if len(parts) == 5 and parts[1] == "comparisons":
            return self._report(lambda: self._folder.comparison(parts[2], parts[3]), parts[4])
        return Answer(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"there is no such page\n")

    @staticmethod
    def _report(place: Callable[[], Path], file: str) -> Answer:
        try:
            folder = place()
            stem, _, ending = (file or "index.html").rpartition(".")
            if (
                ending not in ("html", "png")
                or not stem.replace("-", "").replace("_", "").isalnum()
            ):
                raise FileNotFoundError(file)
            body = (folder / f"{stem}.{ending}").read_bytes()
        except (AdmittanceError, OSError):
            missing = b"there is no such report\n"
            return Answer(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", missing)
        return Answer(HTTPStatus.OK, KINDS[f".{ending}"], body)
