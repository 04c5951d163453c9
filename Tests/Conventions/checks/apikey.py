"""Whether apikey.py is what the pages that it names document."""
from apikey import APIKey
from common.checking import Checks


class APIKeyChecks(Checks):
    SERVER = APIKey
    HEADERS = {"X-Api-Key": "test-key"}

    def post(self, path, form, **headers):
        return self.ask("POST", path, form, Content_Type="application/x-www-form-urlencoded", **headers)

    def test_pages_begin_after_the_last_record(self):
        seen, cursor = [], ""
        while True:
            status, _, body = self.ask("GET", f"/v1/orders?limit=100{cursor}")
            seen += [row["id"] for row in body["data"]]
            if not body["has_more"]:
                break
            cursor = f"&starting_after={seen[-1]}"
        self.assertEqual((status, len(seen), len(set(seen))), (200, 250, 250))
        self.assertEqual(seen[-1], self.first("orders")["id"])  # the newest is first
        self.assertEqual(self.ask("GET", "/v1/orders?limit=101")[0], 400)
        self.assertEqual(self.ask("GET", "/v1/orders?starting_after=no")[2]["error"]["param"], "starting_after")

    def test_forms(self):
        status, _, row = self.post("/v1/customers", "name=A%20B&email=a%40b&address[city]=K%C3%B6ln")
        self.assertEqual((status, row["name"], row["address"]), (200, "A B", {"city": "Köln"}))
        self.assertTrue(row["id"].startswith("cus_"))
        self.assertEqual(self.post(f"/v1/customers/{row['id']}", "address[city]=")[2]["address"], {"city": None})
        status, _, body = self.post("/v1/customers", "name=A&email=b&id=cus_1")
        self.assertEqual((status, body["error"]["code"]), (400, "parameter_unknown"))
        self.assertEqual(self.ask("POST", "/v1/customers", {"name": "A"})[0], 400)

    def test_values(self):
        order = self.first("orders")
        form = "total=1250&due_at=1800000000"
        row = self.post(f"/v1/orders/{order['id']}", form)[2]
        self.assertEqual((row["total"], row["due_at"], row["customer"]), (1250, 1800000000, order["customer_id"]))
        self.assertEqual(self.post(f"/v1/orders/{order['id']}", "total=12.5")[2]["error"]["param"], "total")

    def test_created(self):
        row = self.post("/v1/customers", "name=A&email=a")[2]
        found = self.ask("GET", f"/v1/customers?created[gte]={row['created']}")[2]["data"]
        self.assertEqual([one["id"] for one in found], [row["id"]])

    def test_a_repeated_key_gives_the_first_answer(self):
        first = self.post("/v1/customers", "name=A&email=a", Idempotency_Key="k")
        again = self.post("/v1/customers", "name=A&email=a", Idempotency_Key="k")
        self.assertEqual((again[2], again[1]["idempotent-replayed"]), (first[2], "true"))
        other = self.post("/v1/customers", "name=B&email=b", Idempotency_Key="k")
        self.assertEqual((other[0], other[2]["error"]["type"]), (400, "idempotency_error"))
        self.drop_once("POST", "/v1/customers", "name=L&email=l", Idempotency_Key="l",
                       Content_Type="application/x-www-form-urlencoded")
        self.assertEqual(self.post("/v1/customers", "name=L&email=l", Idempotency_Key="l")[2]["name"], "L")
        self.assertEqual(sum(row["name"] == "L" for row in self.server.store.listed("customers")), 1)

    def test_limits(self):
        self.server.WINDOW_S = 60  # a busy machine takes longer than a second for so many requests
        answers = [self.ask("GET", "/v1/account") for _ in range(61)]
        self.assertEqual([answers[0][1]["ratelimit-remaining"], answers[59][1]["ratelimit-remaining"]], ["59", "0"])
        status, headers, body = answers[60]
        self.assertEqual((status, body["error"]["type"]), (429, "rate_limit_error"))
        self.assertEqual(headers["retry-after"], headers["ratelimit-reset"])

    def test_errors_and_deletions(self):
        key = self.first("customers")["id"]
        status, _, body = self.post(f"/v1/customers/{key}", "name=" + "x" * 70)
        self.assertEqual((status, body["error"]["param"]), (400, "name"))
        self.assertEqual(self.ask("DELETE", f"/v1/customers/{key}")[2], {"id": key, "object": "customer", "deleted": True})
        self.assertEqual(self.ask("GET", f"/v1/customers/{key}")[0], 404)
        self.assertEqual(self.ask("GET", "/v1/customers", X_Api_Key="no")[0], 401)
