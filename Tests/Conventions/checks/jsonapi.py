"""Whether jsonapi.py is what the specification says."""
import uuid

from common.checking import Checks
from jsonapi import JSONAPI, MEDIA


class JSONAPIChecks(Checks):
    SERVER = JSONAPI
    HEADERS = {"Authorization": "Bearer test-key", "Accept": MEDIA, "Content-Type": MEDIA}

    def resource(self, key=None, **attributes):
        return {"data": {"type": "customers", **({"id": key} if key else {}), "attributes": attributes}}

    def test_media_types(self):
        place, body = f"/customers/{self.first('customers')['id']}", self.resource(name="A")
        self.assertEqual(self.ask("PATCH", place, body, Content_Type="application/json")[0], 415)
        self.assertEqual(self.ask("PATCH", place, body, Content_Type=f"{MEDIA}; charset=utf-8")[0], 415)
        self.assertEqual(self.ask("GET", place, Accept=f"{MEDIA}; charset=utf-8")[0], 406)
        self.server.IS_STRICT = True
        self.assertEqual(self.ask("GET", place, Accept="application/json")[0], 406)
        status, headers, _ = self.ask("GET", place, Accept=f"text/html, {MEDIA}")
        self.assertEqual((status, headers["content-type"]), (200, MEDIA))

    def test_pages_have_links(self):
        body = self.ask("GET", "/orders?page[size]=100&page[number]=3")[2]
        self.assertEqual((len(body["data"]), body["links"]["next"]), (50, None))
        first = self.ask("GET", self.path(body["links"]["first"]))[2]
        self.assertEqual((len(first["data"]), first["links"]["prev"]), (100, None))
        self.assertEqual(self.ask("GET", "/orders?unknown[x]=1")[0], 400)

    def test_resources(self):
        order = self.first("orders")
        data = self.ask("GET", f"/orders/{order['id']}")[2]["data"]
        self.assertEqual(data["relationships"]["customer"]["data"], {"type": "customers", "id": order["customer_id"]})
        self.assertNotIn("customer_id", data["attributes"])
        self.assertNotIn("id", data["attributes"])

    def test_creation_with_a_clients_id(self):
        key = str(uuid.uuid4())
        body = self.resource(key, name="A", email="a@example.org")
        status, headers, answer = self.ask("POST", "/customers", body)
        self.assertEqual((status, answer["data"]["id"]), (201, key))
        self.assertEqual(self.path(headers["location"]), f"/customers/{key}")
        self.assertEqual(self.ask("POST", "/customers", body)[0], 409)
        self.assertEqual(self.ask("POST", "/customers", self.resource("7", name="A", email="a"))[0], 403)
        self.assertEqual(self.ask("POST", "/orders", body)[0], 409)

    def test_updates_name_the_resource(self):
        key = self.first("customers")["id"]
        status, _, answer = self.ask("PATCH", f"/customers/{key}", self.resource(key, city="Bath"))
        self.assertEqual((status, answer["data"]["attributes"]["city"]), (200, "Bath"))
        self.assertEqual(self.ask("PATCH", f"/customers/{key}", self.resource(str(uuid.uuid4()), city="x"))[0], 409)

    def test_a_foreign_key_is_no_attribute(self):
        order = self.first("orders")
        path, key = f"/orders/{order['id']}", order["customer_id"]
        body = {"data": {"type": "orders", "id": order["id"], "attributes": {"customer_id": "x"}}}
        shown = self.ask("PATCH", path, body)[2]["data"]
        self.assertEqual(shown["relationships"]["customer"]["data"]["id"], key)
        self.server.IS_STRICT = True
        self.assertEqual(self.ask("PATCH", path, body)[0], 400)

    def test_relationships(self):
        order, other = self.server.store.listed("orders")[5], self.server.store.listed("customers")[9]
        body = {"data": {"type": "orders", "id": order["id"], "relationships": {
            "customer": {"data": {"type": "customers", "id": other["id"]}}}}}
        data = self.ask("PATCH", f"/orders/{order['id']}", body)[2]["data"]
        self.assertEqual(data["relationships"]["customer"]["data"]["id"], other["id"])

    def test_errors_point_to_the_member(self):
        status, headers, body = self.ask("POST", "/orders", {"data": {"type": "orders", "attributes": {"number": ""}}})
        self.assertEqual((status, headers["content-type"]), (422, MEDIA))
        places = {error["source"]["pointer"] for error in body["errors"]}
        self.assertLess({"/data/attributes/number", "/data/relationships/customer"}, places)
        self.assertEqual({error["status"] for error in body["errors"]}, {"422"})

    def test_deletion(self):
        key = self.server.store.listed("customers")[-1]["id"]
        self.assertEqual([self.ask(method, f"/customers/{key}")[0] for method in ("DELETE", "GET")], [204, 404])
