import EntitySchema
import SchemaDraft
import Synchronization
import Testing

@testable import Upstream
@testable import repairminder_sync

@Suite("Asking the lists that a document does not describe")
struct UnsaidListTests {
    private static let unsaid = #"responses: { "200": { description: OK } }"#
    private static let paths = """
          /orders: { get: { parameters: [{ name: page, in: query }], \(unsaid) } }
          /orders/{number}: { get: { \(unsaid) }, delete: { \(unsaid) } }
          /tags: { get: { \(unsaid) } }
        """

    private static func document(_ more: String = "") throws -> OpenAPIDocument {
        let text = "openapi: 3.0.0\ninfo: { title: Shop }\n\(more)paths:\n\(paths)"
        return try OpenAPIDocument(DocumentParser.value(of: Array(text.utf8)))
    }

    private final class Shop: HTTPTransport {
        let asked = Mutex<[String]>([])

        func send(_ request: HTTPRequest) -> HTTPResponse {
            asked.withLock { $0.append("\(request.method) \(request.url.dropFirst("http://far".count))") }
            let order = #"{"id":7,"number":"A-1","status":"open"}"#
            switch request.url.dropFirst("http://far".count) {
            case "/orders": return HTTPResponse(status: 200, body: Array(#"{"data":[\#(order)]}"#.utf8))
            case "/orders/A-1": return HTTPResponse(status: 200, body: Array(order.utf8))
            default: return HTTPResponse(status: 404)
            }
        }
    }

    @Test("one page and one record of each list are asked for, the record by the name in its path")
    func requests() async throws {
        let shop = Shop()
        var lists = LiveLists(address: "http://far", transport: shop, token: nil, place: .bearer)
        let document = try Self.document()
        let observed = await lists.observed(UnsaidLists(document).found())
        #expect(shop.asked.withLock { $0 } == ["GET /orders", "GET /tags", "GET /orders/A-1"])
        #expect(lists.notes == ["GET /tags: status 404"])
        let completed = ObservedAPI(address: "http://far", lists: observed, signIn: nil).completing(document)
        let schema = try SchemaDrafter(completed, source: "shop.yaml").draft().schema
        #expect(schema["orders"]?.key == "number" && schema["orders"]?.pull?.single.isServed == true)
        #expect(schema["orders"]?.push.delete.first?.call == "DELETE /orders/{number}")
    }

    @Test("a list below a record is asked for by the key of one that has records there, if the list above it has one")
    func below() async throws {
        let answers = [
            "/shops": #"[{"id":7},{"id":8}]"#, "/shops/7/lamps": "[]", "/shops/8/lamps": #"[{"id":1,"colour":"red"}]"#,
        ]
        let recorder = Mutex<[String]>([])
        let transport = CallingTransport { path in
            recorder.withLock { $0.append(path) }
            return answers[path]
        }
        let paths = ["/shops", "/shops/{id}", "/shops/{id}/lamps", "/shops/{id}/lamps/{lamp}/parts"]
        let text =
            "openapi: 3.0.0\ninfo: { title: Shop }\npaths:\n"
            + paths.map { "  \($0): { get: { \(Self.unsaid) } }\n" }.joined()
        let document = try OpenAPIDocument(DocumentParser.value(of: Array(text.utf8)))
        var lists = LiveLists(address: "http://far", transport: transport, token: nil, place: .bearer)
        let observed = await lists.observed(UnsaidLists(document).found(names: ["lamps"]))
        #expect(observed.map(\.path) == ["/shops", "/shops/{id}/lamps"] && lists.notes.isEmpty, "\(lists.notes)")
        #expect(recorder.withLock { $0 } == ["/shops", "/shops/7/lamps", "/shops/8/lamps", "/shops/7"])
        let completed = ObservedAPI(address: "http://far", lists: observed, signIn: nil).completing(document)
        let schema = try SchemaDrafter(completed, source: "shop.yaml").draft().schema
        #expect(schema["lamps"]?[field: "colour"]?.kind == .string)
    }

    @Test("a list without records is noted as empty, and not as none", arguments: ["[]", #"{"data":[],"total":0}"#])
    func empty(_ answer: String) async throws {
        let transport = CallingTransport { $0 == "/tags" ? answer : nil }
        var lists = LiveLists(address: "http://far", transport: transport, token: nil, place: .bearer)
        let observed = await lists.observed(UnsaidLists(try Self.document()).found(names: ["tags"]))
        #expect(observed.isEmpty)
        #expect(lists.notes == ["GET /tags: its list is empty; draft it once it has records"])
    }

    @Test("no more than three lists are asked of an API that refuses the token, asks for a pause, or does not answer")
    func refused() async throws {
        let paths = ["/lamps", "/orders", "/shops", "/tags", "/users"]
        let text =
            "openapi: 3.0.0\ninfo: { title: Shop }\npaths:\n"
            + paths.map { "  \($0): { get: { \(Self.unsaid) } }\n" }.joined()
        let document = try OpenAPIDocument(DocumentParser.value(of: Array(text.utf8)))
        for (status, failure) in [(401, nil), (429, nil), (503, nil), (0, TransportError.unreachable("no route"))] {
            let transport = FailingTransport(status: status, failure: failure)
            var lists = LiveLists(address: "http://far", transport: transport, token: "x", place: .bearer)
            #expect(await lists.observed(UnsaidLists(document).found()).isEmpty)
            #expect(transport.calls.withLock { $0 } == 3)
            #expect(lists.notes.count == 4)
            #expect(lists.notes.last == "the rest was not asked, because 3 requests in a row failed so")
        }
    }

    /// Answers with the status, or cannot be reached.
    private final class FailingTransport: HTTPTransport {
        let status: Int
        let failure: TransportError?
        let calls = Mutex(0)

        init(status: Int, failure: TransportError?) {
            self.status = status
            self.failure = failure
        }

        func send(_ request: HTTPRequest) throws(TransportError) -> HTTPResponse {
            calls.withLock { $0 += 1 }
            if let failure { throw failure }
            return HTTPResponse(status: status)
        }
    }

    /// Answers by path; all else is missing.
    private struct CallingTransport: HTTPTransport {
        let answer: @Sendable (_ path: String) -> String?

        func send(_ request: HTTPRequest) -> HTTPResponse {
            let found = answer(String(request.url.dropFirst("http://far".count)))
            return found.map { HTTPResponse(status: 200, body: Array($0.utf8)) } ?? HTTPResponse(status: 404)
        }
    }

    @Test("the command that asks them is named, with what the document and the caller say")
    func hint() throws {
        func text(_ more: String, isProbed: Bool = false, names: [String] = []) throws -> String? {
            try ProbeHint(document: Self.document(more), from: "shop api.yaml", isProbed: isProbed, names: names).text
        }
        let key = "components: { securitySchemes: { key: { type: http, scheme: bearer } } }\n"
        #expect(
            try text("servers: [{ url: \"http://localhost:3000/v1\" }]\n")
                == "the document does not say what 2 lists answer; to see it: "
                + "repairminder-sync init --from 'shop api.yaml' --probe https://HOST/v1")
        let whole = try text("servers: [{ url: \"https://api.shop.test\" }]\n\(key)", names: ["tags"])
        #expect(
            whole?.hasSuffix("--probe https://api.shop.test --token-file FILE --only tags") == true, "\(whole ?? "")")
        #expect(try text("", isProbed: true) == nil)
    }

    @Test("with a document, the address is the one in front of its paths, without a slash at its end")
    func base() throws {
        #expect(try ProbeAddresses(["https://shop.test/api/"]).base() == "https://shop.test/api")
        #expect(try ProbeAddresses(["http://127.0.0.1:8041"]).base() == "http://127.0.0.1:8041")
        let several = ["https://a.test/b", "https://a.test/c"]
        for refused in [several, ["https://a.test?x=1"], ["http://a.test"], ["a.test"]] {
            #expect(throws: CommandFailure.self) { try ProbeAddresses(refused).base() }
        }
    }
}
