"""Whether graphql.py is what the specifications say."""
from common.checking import Checks
from graphql import GraphQL

PAGE = """query Page($first: Int = 100, $after: String, $since: DateTime) {
  orders(first: $first, after: $after, updatedSince: $since) {
    edges { cursor node { id number total customer { id name } } }
    pageInfo { hasNextPage endCursor }
  }
}"""
UPDATE = "mutation($id: ID!, $input: OrderInput!) { updateOrder(id: $id, input: $input) { order { note } userErrors { field message } } }"


class GraphQLChecks(Checks):
    SERVER = GraphQL
    HEADERS = {"Authorization": "Bearer test-key"}

    def run_query(self, query, **variables):
        status, _, body = self.ask("POST", "/graphql", {"query": query, "variables": variables})
        self.assertEqual(status, 200)
        return body

    def test_connections(self):
        seen, after = [], None
        while True:
            orders = self.run_query(PAGE, after=after)["data"]["orders"]
            seen += [edge["node"]["id"] for edge in orders["edges"]]
            if not orders["pageInfo"]["hasNextPage"]:
                break
            after = orders["pageInfo"]["endCursor"]
            self.assertEqual(after, orders["edges"][-1]["cursor"])
        self.assertEqual((len(seen), len(set(seen))), (250, 250))
        self.assertIn("errors", self.run_query(PAGE, first=101))

    def test_one_object(self):
        order = self.first("orders")
        body = self.run_query("query($id: ID!) { one: order(id: $id) { __typename id status customer { id } } }", id=order["id"])
        self.assertEqual(body["data"]["one"], {"__typename": "Order", "id": order["id"], "status": order["status"].upper(),
                                               "customer": {"id": order["customer_id"]}})
        self.assertEqual(self.run_query('{ order(id: "no") { id } }')["data"], {"order": None})

    def test_mutations(self):
        create = "mutation($input: OrderInput!) { createOrder(input: $input) { order { id total } userErrors { field message } } }"
        new = {"customerId": self.first("customers")["id"], "number": "G", "total": "1.5", "status": "PAID"}
        made = self.run_query(create, input=new)["data"]["createOrder"]
        self.assertEqual((made["order"]["total"], made["userErrors"]), ("1.50", []))
        key = made["order"]["id"]
        found = self.run_query(UPDATE, id=key, input={"note": None})
        self.assertEqual(found["data"]["updateOrder"]["order"], {"note": None})
        delete = "mutation($id: ID!) { deleteOrder(id: $id) { deletedOrderId userErrors { message } } }"
        self.assertEqual(self.run_query(delete, id=key)["data"]["deleteOrder"]["deletedOrderId"], key)
        again = self.run_query(delete, id=key)["data"]["deleteOrder"]
        self.assertEqual(again, {"deletedOrderId": None, "userErrors": [{"message": "Order does not exist"}]})

    def test_values_that_are_refused(self):
        key = self.first("orders")["id"]
        payload = self.run_query(UPDATE, id=key, input={"total": -1})["data"]["updateOrder"]
        self.assertIsNone(payload["order"])
        self.assertEqual(payload["userErrors"][0]["field"], ["input", "total"])

    def test_errors_are_answered_with_200(self):
        for query, word in (("{ orders { nope } }", "nope"), ("{ orders(first: 1) { edges { node } } }", "selection"),
                            ("{ orders ", "Syntax"), ("{ ...a }", "Fragments"), ("subscription { a }", "subscription"),
                            (UPDATE, "required type")):
            body = self.run_query(query)
            self.assertIn(word, body["errors"][0]["message"])
            self.assertNotIn("data", body)

    def test_http(self):
        self.assertEqual(self.ask("GET", "/graphql")[0], 405)
        self.assertEqual(self.ask("POST", "/graphql", b"{", Content_Type="application/json")[0], 400)
        self.assertEqual(self.ask("POST", "/graphql", b"a", Content_Type="text/plain")[0], 415)
        body = self.ask("POST", "/graphql", {"query": "{ orders { totalCount } }"}, Authorization=None)[2]
        self.assertEqual(body["errors"][0]["extensions"]["code"], "UNAUTHENTICATED")

    def test_changes(self):
        key = self.first("orders")["id"]
        self.run_query(UPDATE, id=key, input={"note": "new"})
        since = self.run_query("query($id: ID!) { order(id: $id) { updatedAt } }", id=key)["data"]["order"]["updatedAt"]
        self.assertEqual([edge["node"]["id"] for edge in self.run_query(PAGE, since=since)["data"]["orders"]["edges"]], [key])
