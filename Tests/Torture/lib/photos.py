"""Records all contents uploaded through the local API, and compares them with the daemon and the upstream."""
import hashlib
import threading
from dataclasses import dataclass

from .programs import Failed


@dataclass
class Photo:
    caption: str
    id: str = None
    sha256: str = None
    size: int = 0
    was_answered: bool = False


class Photos:
    """The ledger of contents. Each photo is uploaded once, so a second upload upstream is a duplicate."""

    def __init__(self, mark):
        self.mark = mark
        self.lock = threading.Lock()
        self.photos = []

    def write(self, client, random, padding=0):
        """Creates a photo and uploads its content; returns the last answer."""
        with self.lock:
            photo = Photo(f"{self.mark}.photo.{len(self.photos)}")
            self.photos.append(photo)
        made = client.call("POST", "/v1/photos", {"caption": photo.caption})
        if made.status != 201:
            return made
        photo.id = made.json["id"]
        content = random.randbytes(random.randrange(1, 60_000))
        photo.size = len(content)
        photo.sha256 = hashlib.sha256(content).hexdigest()
        put = client.call("PUT", f"/v1/photos/{photo.id}/content", content, {"Content-Type": "application/octet-stream"})
        photo.was_answered = put.status == 200
        if put.status >= 300 and not put.is_problem:
            raise Failed(f"{put.status} without a problem document: {put.body[:300]!r}")
        return put

    @property
    def answered(self):
        with self.lock:
            return sum(photo.was_answered for photo in self.photos)

    def check_local(self, client):
        """Checks that every acknowledged content can be read as it was written."""
        for photo in self.photos:
            if photo.was_answered:
                self._check(photo, client.get(f"/v1/photos/{photo.id}/content"), "in the cache")

    def check_upstream(self, upstream):
        """Checks that every acknowledged upload has arrived, complete and once. Call it while nothing is queued or
        in flight."""
        applied = upstream.applied()
        there = {record.get("caption"): record["id"] for record in upstream.records("photos")}
        for photo in self.photos:
            id = there.get(photo.caption)
            if photo.was_answered:
                self._check(photo, upstream.content(f"/api/photos/{id}/content"), "upstream")
            if applied["PUT", f"/api/photos/{id}/content"] > 1:
                raise Failed(f"doubled: the content of {photo.caption} arrived twice")

    def _check(self, photo, answer, place):
        if answer.status != 200 or hashlib.sha256(answer.body).hexdigest() != photo.sha256:
            raise Failed(f"lost: the content of {photo.caption} is {answer.status} {answer.body[:40]!r} {place}, "
                         f"{len(answer.body)} bytes of {photo.size} {answer.headers}")
