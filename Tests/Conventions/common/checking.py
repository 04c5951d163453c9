"""Checks of a convention's server by raw requests: nothing of the daemon's takes part."""
import http.client
import json
import unittest


class Checks(unittest.TestCase):
    SERVER = None
    HEADERS = {}

    def setUp(self):
        self.server = self.SERVER(7)
        self.addCleanup(self.server.close)

    def ask(self, method, path, body=None, **headers):
        """Status, headers with lower-case names, and the JSON (or text) of the answer. A header of None is left out."""
        connection = http.client.HTTPConnection(self.server.address, timeout=10)
        all_headers = {**self.HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            all_headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path.replace(" ", "%20"), body.encode() if isinstance(body, str) else body,
                               {name: value for name, value in all_headers.items() if value is not None})
            answer = connection.getresponse()
            data = answer.read()
            found = {name.lower(): value for name, value in answer.getheaders()}
            try:
                return answer.status, found, json.loads(data) if data else None
            except ValueError:
                return answer.status, found, data.decode()
        finally:
            connection.close()

    def path(self, url):
        """An absolute address as a path."""
        self.assertTrue(url.startswith(self.server.url), url)
        return url.removeprefix(self.server.url)

    def first(self, entity):
        return self.server.store.listed(entity)[0]

    def drop_once(self, *call, **headers):
        """The request is applied, and its answer lost."""
        self.server.test("drop", times=1)
        with self.assertRaises((http.client.HTTPException, OSError)):
            self.ask(*call, **headers)
