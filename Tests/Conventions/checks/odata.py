"""Whether odata.py is what the protocol says."""
from common.checking import Checks
from odata import OData


class ODataChecks(Checks):
    SERVER = OData
    HEADERS = {"Authorization": "Bearer test-key"}

    def test_pages_by_the_server(self):
        status, headers, body = self.ask("GET", "/odata/Orders?$count=true&$orderby=UpdatedAt desc,Id")
        self.assertEqual((status, headers["odata-version"], body["@odata.count"]), (200, "4.01", 250))
        seen = len(body["value"])
        while "@odata.nextLink" in body:
            body = self.ask("GET", self.path(body["@odata.nextLink"]))[2]
            seen += len(body["value"])
        self.assertEqual(seen, 250)
        self.assertEqual(len(self.ask("GET", "/odata/Orders", Prefer="odata.maxpagesize=7")[2]["value"]), 7)
        self.assertEqual(len(self.ask("GET", "/odata/Orders?$top=5&$skip=248")[2]["value"]), 2)

    def test_filters(self):
        time = self.ask("PATCH", "/odata/Customers(3)", {"City": "Bath"}, Prefer="return=representation")[2]["UpdatedAt"]
        found = self.ask("GET", f"/odata/Customers?$filter=UpdatedAt ge {time}")[2]["value"]
        self.assertEqual([row["Id"] for row in found], [3])
        self.assertEqual(self.ask("GET", "/odata/Customers?$filter=contains(Name,'a')")[0], 400)
        self.assertEqual(self.ask("GET", "/odata/Customers?$search=a")[0], 501)

    def test_creation(self):
        body = {"Name": "A", "Email": "a@example.org"}
        status, headers, row = self.ask("POST", "/odata/Customers", body)
        self.assertEqual((status, self.path(headers["location"])), (201, f"/odata/Customers({row['Id']})"))
        status, headers, row = self.ask("POST", "/odata/Customers", body, Prefer="return=minimal")
        self.assertEqual((status, row, headers["preference-applied"]), (204, None, "return=minimal"))
        self.assertIn("odata-entityid", headers)

    def test_updates_merge_and_are_silent(self):
        before = self.ask("GET", "/odata/Orders(5)")[2]
        self.assertEqual(self.ask("PATCH", "/odata/Orders(5)", {"Note": "new"})[::2], (204, None))
        after = self.ask("GET", "/odata/Orders(5)")[2]
        self.assertEqual((after["Note"], after["Number"]), ("new", before["Number"]))
        self.assertNotEqual(after["@odata.etag"], before["@odata.etag"])

    def test_versions(self):
        tag = self.ask("GET", "/odata/Orders(6)")[1]["etag"]
        self.assertEqual(self.ask("PATCH", "/odata/Orders(6)", {"Note": "a"}, If_Match=tag)[0], 204)
        self.assertEqual(self.ask("PATCH", "/odata/Orders(6)", {"Note": "b"}, If_Match=tag)[0], 412)
        self.assertEqual(self.ask("DELETE", "/odata/Orders(6)", If_Match=tag)[0], 412)
        self.assertEqual(self.ask("DELETE", "/odata/Orders(6)", If_Match="*")[0], 204)

    def test_changes(self):
        body = self.ask("GET", "/odata/Lines", Prefer="track-changes")[2]
        while "@odata.nextLink" in body:
            body = self.ask("GET", self.path(body["@odata.nextLink"]), Prefer="track-changes")[2]
        keys = [row["id"] for row in self.server.store.listed("lines")]
        self.ask("PATCH", f"/odata/Lines({keys[0]})", {"Quantity": 99})
        self.ask("DELETE", f"/odata/Lines({keys[1]})")
        delta = self.ask("GET", self.path(body["@odata.deltaLink"]))[2]
        self.assertEqual([row["Id"] for row in delta["value"]], keys[:2])
        self.assertEqual(delta["value"][1]["@removed"], {"reason": "deleted"})
        link = self.path(delta["@odata.deltaLink"])
        self.assertEqual(self.ask("GET", link)[2]["value"], [])
        self.server.test("expire")
        self.assertEqual(self.ask("GET", link)[0], 410)

    def test_errors(self):
        status, _, body = self.ask("PATCH", "/odata/Orders(7)", {"Total": -1})
        self.assertEqual((status, body["error"]["details"][0]["target"]), (400, "Total"))
        self.assertEqual(self.ask("PATCH", "/odata/Orders(7)", {"Nope": 1})[2]["error"]["target"], "Nope")
        self.assertEqual(self.ask("GET", "/odata/Orders(99999)")[2]["error"]["code"], "NotFound")
