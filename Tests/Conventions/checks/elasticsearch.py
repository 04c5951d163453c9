"""Whether elasticsearch.py is what Elasticsearch documents."""
from common.checking import Checks
from elasticsearch import Elasticsearch

ORDER = [{"updated_at": "asc"}, {"_seq_no": "asc"}]


class ElasticsearchChecks(Checks):
    SERVER = Elasticsearch
    HEADERS = {"Authorization": "ApiKey test-key"}

    def test_pages_begin_after_the_last_values(self):
        seen, after = [], {}
        while True:
            status, _, body = self.ask("POST", "/orders/_search", {"size": 100, "sort": ORDER, **after})
            hits = body["hits"]["hits"]
            seen += [hit["_id"] for hit in hits]
            if len(hits) < 100:
                break
            after = {"search_after": hits[-1]["sort"]}
        self.assertEqual((status, len(seen), len(set(seen))), (200, 250, 250))
        self.assertEqual(body["hits"]["total"], {"value": 250, "relation": "eq"})

    def test_range(self):
        time = self.ask("GET", f"/orders/_doc/{self.server.store.listed('orders')[-3]['id']}")[2]["_source"]["updated_at"]
        query = {"range": {"updated_at": {"gte": time}}}
        self.assertEqual(len(self.ask("POST", "/orders/_search", {"query": query})[2]["hits"]["hits"]), 3)

    def test_searches_see_writes_later(self):
        self.server.refreshed = float("inf")  # only this test refreshes, however long it takes
        body = {"name": "A", "email": "a@example.org"}
        status, headers, answer = self.ask("PUT", "/customers/_create/mine", body)
        self.assertEqual((status, answer["result"], headers["location"]), (201, "created", "/customers/_doc/mine"))
        self.assertTrue(self.ask("GET", "/customers/_doc/mine")[2]["found"])
        ids = {"query": {"ids": {"values": ["mine"]}}}
        self.assertEqual(self.ask("POST", "/customers/_search", ids)[2]["hits"]["hits"], [])
        self.ask("POST", "/customers/_refresh")
        self.assertEqual(self.ask("POST", "/customers/_search", ids)[2]["hits"]["hits"][0]["_source"]["name"], "A")
        status, _, answer = self.ask("PUT", "/customers/_create/mine", body)
        self.assertEqual((status, answer["error"]["type"]), (409, "version_conflict_engine_exception"))

    def test_updates(self):
        key = self.first("orders")["id"]
        place = self.ask("GET", f"/orders/_doc/{key}")[2]
        versions = f"if_seq_no={place['_seq_no']}&if_primary_term=1"
        status, _, answer = self.ask("POST", f"/orders/_update/{key}?{versions}", {"doc": {"note": "new"}})
        self.assertEqual((status, answer["result"], answer["_version"]), (200, "updated", 2))
        self.assertEqual(self.ask("POST", f"/orders/_update/{key}?{versions}", {"doc": {"note": "b"}})[0], 409)
        self.assertEqual(self.ask("POST", f"/orders/_update/{key}", {"doc": {"note": "new"}})[2]["result"], "noop")
        self.assertEqual(self.ask("POST", "/orders/_update/no", {"doc": {}})[0], 404)

    def test_deletion(self):
        key = self.first("lines")["id"]
        self.assertEqual(self.ask("DELETE", f"/lines/_doc/{key}?refresh=true")[2]["result"], "deleted")
        status, _, body = self.ask("DELETE", f"/lines/_doc/{key}")
        self.assertEqual((status, body["result"]), (404, "not_found"))
        self.assertEqual(self.ask("GET", f"/lines/_doc/{key}")[::2], (404, {"_index": "lines", "_id": key, "found": False}))

    def test_errors(self):
        key = self.first("lines")["id"]
        status, _, body = self.ask("POST", f"/lines/_update/{key}", {"doc": {"quantity": 3_000_000_000}})
        self.assertEqual((status, body["error"]["type"]), (400, "document_parsing_exception"))
        self.assertIn("[quantity]", body["error"]["reason"])
        body = self.ask("POST", f"/lines/_update/{key}", {"doc": {"nope": 1}})[2]
        self.assertEqual(body["error"]["type"], "strict_dynamic_mapping_exception")
        self.assertEqual(self.ask("POST", "/nope/_search", {})[2]["error"]["type"], "index_not_found_exception")
        self.assertEqual(self.ask("POST", "/lines/_search", {}, Authorization=None)[0], 401)
