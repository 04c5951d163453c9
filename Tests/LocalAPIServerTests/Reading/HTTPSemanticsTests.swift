import SocketServer
import Testing

/// What RFC 9110 asks of the API itself: methods, types, conditions, ranges. The syntax is SocketServer's.
@Suite("HTTP by the letter of RFC 9110")
struct HTTPSemanticsTests {
    @Test(
        "a method that an address does not have gets 405 with Allow (9.1, 15.5.6)",
        arguments: ["TRACE", "CONNECT", "DELETE", "PUT", "FOOBAR", "get", "Get", "HEADER"])
    func methods(_ method: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(method, "/v1/status", headers: ["X-Mark": "echoed-mark"])
        #expect(answer.status == 405)
        #expect(answer.header("Allow") == "GET, HEAD, OPTIONS")
        #expect(answer.header("Content-Type") == "application/problem+json")
        // TRACE must not send fields back (9.3.8), and no answer may let a web page in.
        #expect(!answer.text.contains("echoed-mark") && !answer.text.contains(TestAPI.token))
        #expect(!answer.response.allHeaders.contains { $0.name.lowercased().hasPrefix("access-control-") })
    }

    @Test(
        "HEAD gets the fields of GET (9.3.2)", arguments: ["/v1/status", "/v1/orders/a", "/openapi.json", "/nothing"])
    func head(_ path: String) async throws {
        let api = try await TestAPI.filled()
        let (get, head) = (await api.call("GET", path), await api.call("HEAD", path))
        #expect(head.status == get.status)
        #expect(head.header("Content-Type") == get.header("Content-Type"))
        #expect(head.header("ETag") == get.header("ETag"))
    }

    @Test("a compressed body is refused, and the answer says that only plain ones are taken (12.5.3, 15.5.16)")
    func codedBody() async throws {
        let api = try await TestAPI.filled()
        for (coding, status) in [("gzip", 415), ("br, gzip", 415), ("identity", 200), ("Identity", 200)] {
            let answer = await api.call(
                "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["Content-Encoding": coding])
            #expect(answer.status == status, "\(coding)")
            #expect(answer.header("Accept-Encoding") == (status == 415 ? "identity" : nil))
        }
        #expect(await api.call("GET", "/v1/orders/a", headers: ["Content-Encoding": "gzip"]).status == 200)
    }

    @Test(
        "only JSON is taken as JSON (8.3, 15.5.16)",
        arguments: [
            "application/x-nonsense", "text/plain", "application/json-seq", "application", "", "multipart/form-data",
        ])
    func type(_ type: String) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call(
            "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["Content-Type": type])
        #expect(answer.status == 415)
    }

    @Test("a body of another type gets 405 where the method is not allowed, because JSON would not be either")
    func typeOfWrongMethod() async throws {
        let api = try await TestAPI.filled()
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        let answer = await api.call("POST", "/v1/orders/a", body: "status=open", headers: form)
        #expect(answer.status == 405 && answer.header("Allow")?.contains("PATCH") == true)
        #expect(await api.call("POST", "/v1/orders", body: "status=open", headers: form).status == 415)
    }

    @Test("two types are none, whatever they are (5.3)")
    func twoTypes() async throws {
        let api = try await TestAPI.filled()
        for second in ["application/json", "text/html"] {
            let answer = await api.call(
                "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["content-type": second])
            #expect(answer.status == 415)
        }
    }

    @Test(
        "fields that the API does not use change nothing (12.5.1, 13.1.3, 14.2, 7.8)",
        arguments: [
            ("Accept", "application/x-nonsense"), ("Accept", ""), ("Accept-Encoding", "nonsense, gzip;q=9"),
            ("If-Modified-Since", "Thu, 01 Jan 2099 00:00:00 GMT"), ("If-Modified-Since", "not a date"),
            ("If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"), ("Range", "bytes=0-10"), ("Range", "bytes=a-b"),
            ("Range", "bytes=0-,0-,0-"), ("Upgrade", "websocket"), ("Cookie", "===;;;"), ("If-None-Match", "no-quotes"),
            ("X-HTTP-Method-Override", "DELETE"), ("X-Forwarded-Host", "b.example"), ("X-Original-URL", "/v1/pending"),
        ])
    func ignored(_ name: String, _ value: String) async throws {
        let api = try await TestAPI.filled()
        let plain = await api.call("GET", "/v1/orders/a")
        let answer = await api.call("GET", "/v1/orders/a", headers: [name: value])
        #expect(answer.status == 200)
        #expect(answer.text == plain.text)
    }

    @Test("If-None-Match decides alone when If-Modified-Since is there as well (13.1.3)")
    func precedence() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        for date in ["Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"] {
            let headers = ["If-None-Match": tag, "If-Modified-Since": date]
            #expect(await api.call("GET", "/v1/orders/a", headers: headers).status == 304)
        }
    }

    @Test(
        "an encoded control character in a path is part of a name, and never of a line",
        arguments: [
            ("/v1/schema/a%00", 400), ("/v1/schema/a%0d%0aX:%20y", 404), ("/v1/schema/%C0%AF", 400),
            ("/v1/../v1/status", 404),
        ])
    func paths(_ path: String, _ status: Int) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", path)
        #expect(answer.status == status)
        #expect(answer.response.allHeaders.allSatisfy { !$0.value.contains("\r") && !$0.value.contains("\n") })
    }
}
