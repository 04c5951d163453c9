"""Whether rails.py is what Rails and the gems document."""
from common.checking import Checks
from rails import Rails


class RailsChecks(Checks):
    SERVER = Rails
    HEADERS = {"Authorization": "Bearer test-key"}

    def test_pages_have_a_link_header(self):
        status, headers, body = self.ask("GET", "/orders?per_page=100&page=2")
        self.assertEqual((status, len(body), headers["total-count"], headers["total-pages"]), (200, 100, "250", "3"))
        links = dict(reversed(part.split("; ")) for part in headers["link"].split(", "))
        self.assertEqual(sorted(links), ['rel="first"', 'rel="last"', 'rel="next"', 'rel="prev"'])
        last = self.ask("GET", self.path(links['rel="next"'].strip("<>")))
        self.assertEqual(len(last[2]), 50)
        self.assertNotIn('rel="next"', last[1]["link"])
        self.assertEqual(len(self.ask("GET", "/orders")[2]), 25)

    def test_bodies_are_wrapped(self):
        self.assertEqual(self.ask("POST", "/customers", {"name": "A", "email": "a@example.org"})[0], 400)
        body = {"customer": {"name": "A", "email": "a@example.org", "unknown": 1}}
        status, headers, row = self.ask("POST", "/customers", body)
        self.assertEqual((status, self.path(headers["location"])), (201, f"/customers/{row['id']}"))
        self.assertNotIn("unknown", row)

    def test_errors(self):
        status, _, body = self.ask("PATCH", "/customers/1", {"customer": {"name": "x" * 70}})
        self.assertEqual((status, body), (422, {"errors": {"name": ["Ensure this field has no more than 60 characters."]}}))
        self.assertEqual(self.ask("GET", "/customers/9999")[::2], (404, {"status": 404, "error": "Not Found"}))
        self.assertEqual(self.ask("GET", "/orders", Authorization=None)[0], 401)

    def test_amounts_have_no_zeros_at_the_end(self):
        amounts = [self.ask("PATCH", "/orders/1", {"order": {"total": total}})[2]["total"] for total in (12.50, 3, 0.05, 100)]
        self.assertEqual(amounts, ["12.5", "3.0", "0.05", "100.0"])

    def test_weak_tags(self):
        status, headers, _ = self.ask("GET", "/orders/2")
        self.assertTrue(headers["etag"].startswith('W/"'))
        self.assertEqual(self.ask("GET", "/orders/2", If_None_Match=headers["etag"])[0], 304)
        self.ask("PATCH", "/orders/2", {"order": {"note": "new"}})
        self.assertEqual(self.ask("GET", "/orders/2", If_None_Match=headers["etag"])[0], 200)

    def test_a_stale_lock_version_is_a_conflict(self):
        version = self.ask("GET", "/orders/3")[2]["lock_version"]
        self.assertEqual(self.ask("PATCH", "/orders/3", {"order": {"note": "a", "lock_version": version}})[0], 200)
        self.assertEqual(self.ask("PATCH", "/orders/3", {"order": {"note": "b", "lock_version": version}})[0], 409)

    def test_what_changed(self):
        time = self.ask("PATCH", "/customers/3", {"customer": {"city": "Bath"}})[2]["updated_at"]
        found = self.ask("GET", f"/customers?q[updated_at_gteq]={time}")[2]
        self.assertEqual([row["id"] for row in found], [3])

    def test_a_deletion_takes_what_belongs_to_it(self):
        line = self.first("lines")
        self.assertEqual(self.ask("DELETE", f"/orders/{line['order_id']}")[0], 204)
        self.assertEqual(self.ask("GET", f"/lines/{line['id']}")[0], 404)
