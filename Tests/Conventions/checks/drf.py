"""Whether drf.py is what Django REST Framework documents."""
from common.checking import Checks
from drf import DRF


class DRFChecks(Checks):
    SERVER = DRF
    HEADERS = {"Authorization": "Token test-key"}

    def test_tokens(self):
        status, headers, body = self.ask("GET", "/api/orders/", Authorization=None)
        self.assertEqual((status, headers["www-authenticate"]), (401, "Token"))
        self.assertEqual(body, {"detail": "Authentication credentials were not provided."})
        self.assertEqual(self.ask("GET", "/api/orders/", Authorization="Token no")[2], {"detail": "Invalid token."})

    def test_pages_have_absolute_links(self):
        status, _, body = self.ask("GET", "/api/orders/?updated_at__gte=2020-01-01")
        self.assertEqual((status, body["count"], len(body["results"]), body["previous"]), (200, 250, 100, None))
        second = self.ask("GET", self.path(body["next"]))[2]
        self.assertIn("updated_at__gte", second["previous"])
        third = self.ask("GET", self.path(second["next"]))[2]
        self.assertEqual((third["next"], len(third["results"])), (None, 50))
        self.assertEqual(self.ask("GET", "/api/orders/?page=4")[::2], (404, {"detail": "Invalid page."}))

    def test_values(self):
        order = self.ask("GET", "/api/orders/1/")[2]
        self.assertRegex(order["total"], r"^\d+\.\d\d$")
        self.assertRegex(order["updated_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$")
        self.assertIsInstance(order["customer"], int)

    def test_writes(self):
        new = {"customer": 1, "number": "C-1", "total": "7.5", "unknown": 1, "id": 9}
        status, _, order = self.ask("POST", "/api/orders/", new)
        self.assertEqual((status, order["total"], order["status"]), (201, "7.50", "open"))
        self.assertNotIn("unknown", order)
        place = f"/api/orders/{order['id']}/"
        self.assertEqual(self.ask("PATCH", place, {"note": "é"})[2]["note"], "é")
        self.assertEqual(self.ask("PUT", place, {"note": "x"})[::2][0], 400)
        self.assertEqual(self.ask("DELETE", place)[0], 204)
        self.assertEqual(self.ask("GET", place)[::2], (404, {"detail": "No Order matches the given query."}))

    def test_errors(self):
        status, _, body = self.ask("POST", "/api/orders/", {"number": "", "total": "x", "customer": 99999})
        self.assertEqual(status, 400)
        self.assertEqual(body["number"], ["This field may not be blank."])
        self.assertEqual(body["total"], ["A valid number is required."])
        self.assertEqual(body["customer"], ['Invalid pk "99999" - object does not exist.'])
        self.assertIn("JSON parse error", self.ask("POST", "/api/orders/", b"{", Content_Type="application/json")[2]["detail"])
        self.assertEqual(self.ask("POST", "/api/orders/", b"a", Content_Type="text/plain")[0], 415)
        self.assertEqual(self.ask("DELETE", "/api/orders/")[2], {"detail": 'Method "DELETE" not allowed.'})

    def test_the_slash_at_the_end(self):
        status, headers, _ = self.ask("GET", "/api/orders?page=2")
        self.assertEqual((status, headers["location"]), (301, "/api/orders/?page=2"))

    def test_what_changed(self):
        time = self.ask("PATCH", "/api/customers/3/", {"city": "Bath"})[2]["updated_at"]
        found = self.ask("GET", f"/api/customers/?updated_at__gte={time}")[2]["results"]
        self.assertEqual([row["id"] for row in found], [3])
        self.assertEqual(self.ask("GET", "/api/customers/?updated_at__gte=x")[2],
                         {"updated_at__gte": ["Enter a valid date/time."]})

    def test_when_orders_are_due(self):
        due = [row["due_at"] for row in self.server.store.listed("orders") if row["due_at"]]
        middle = sorted(due)[len(due) // 2]
        for name, count in (("due_at__gte", sum(one >= middle for one in due)), ("due_at__lt", sum(one < middle for one in due))):
            body = self.ask("GET", f"/api/orders/?{name}={middle:%Y-%m-%dT%H:%M:%S.%fZ}")[2]
            self.assertEqual(body["count"], count)
        self.assertEqual(self.ask("GET", "/api/orders/?due_at__lt=x")[2], {"due_at__lt": ["Enter a valid date/time."]})

    def test_habits(self):
        self.drop_once("POST", "/api/customers/", {"name": "Lost", "email": "l@example.org"})
        self.assertIn("Lost", [row["name"] for row in self.server.store.listed("customers")])
        self.server.test("answer", status=429, times=1, headers={"Retry-After": "1"})
        self.assertEqual([self.ask("GET", "/api/me/")[0] for _ in range(2)], [429, 200])
        key = self.server.test("create", entity="customers", fields={"name": "N", "email": "n@example.org"})["id"]
        self.server.test("edit", entity="customers", id=key, fields={"city": "Hull"})
        self.assertEqual(self.ask("GET", f"/api/customers/{key}/")[2]["city"], "Hull")
        self.server.test("delete", entity="customers", id=key)
        self.assertEqual(self.ask("GET", f"/api/customers/{key}/")[0], 404)
