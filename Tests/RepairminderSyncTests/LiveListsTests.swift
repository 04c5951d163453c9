import EntitySchema
import JSONText
import SchemaDraft
import Synchronization
import Testing

@testable import Upstream
@testable import repairminder_sync

@Suite("Drafting from the lists of a live API")
struct LiveListsTests {
    /// Answers by path with query; all else is missing.
    private struct Site: HTTPTransport {
        var answers: [String: HTTPResponse]

        func send(_ request: HTTPRequest) -> HTTPResponse {
            answers[String(request.url.dropFirst("http://far".count))] ?? HTTPResponse(status: 404)
        }
    }

    private static func json(_ text: String, _ headers: [HTTPHeader] = []) -> HTTPResponse {
        HTTPResponse(status: 200, headers: headers, body: Array(text.utf8))
    }

    /// Records with these members, in which N stands for a number.
    private static func records(_ numbers: ClosedRange<Int>, _ members: String) -> String {
        "[\(numbers.map { "{\(members.replacing("N", with: "\($0)"))}" }.joined(separator: ","))]"
    }

    private static func draft(_ answers: [String: HTTPResponse]) async throws -> SchemaDraft {
        var lists = LiveLists(
            address: "http://far", transport: Site(answers: answers), token: nil, place: .bearer)
        let observed = await lists.observed(["/notes"])
        let document = try ObservedAPI(address: "http://far", lists: observed, signIn: nil).document()
        return try SchemaDrafter(document, source: "the answers of http://far").draft()
    }

    @Test("comments speak of the answers, and not of a document")
    func comments() async throws {
        let records = Self.records(1...3, #""id":"rN""#)
        let yaml = try await Self.draft(["/notes": Self.json(records), "/notes/r1": Self.json(#"{"id":"r1"}"#)]).yaml
        #expect(yaml.contains("# it answered there"))
        #expect(yaml.contains("# a record was read by it"))
        #expect(!yaml.contains("document") && !yaml.contains("scheme"), "\(yaml)")
    }

    @Test("a header that names the next page is not passed over")
    func header() async throws {
        let records = Self.records(1...3, #""id":"rN""#)
        let yaml = try await Self.draft(["/notes": Self.json(records, [HTTPHeader("X-Next-Cursor", "r3")])]).yaml
        #expect(yaml.contains("TODO pagination: its answer has X-Next-Cursor"), "\(yaml)")
    }

    @Test("a text that names the next page is tried in the parameter of its own name")
    func cursor() async throws {
        for (member, parameter) in [("offset", "offset"), ("nextPageToken", "pageToken"), ("next_cursor", "cursor")] {
            let first = #"{"notes":\#(Self.records(1...3, #""id":"rN""#)),"\#(member)":"itr/3"}"#
            let second = #"{"notes":\#(Self.records(4...5, #""id":"rN""#))}"#
            let draft = try await Self.draft([
                "/notes": Self.json(first), "/notes?\(parameter)=itr%2F3": Self.json(second),
            ])
            #expect(
                draft.schema["notes"]?.pull?.list.style
                    == .cursor(parameter: parameter, next: Place(paths: [member])))
            #expect(!draft.yaml.contains("TODO pagination"))
        }
    }

    @Test("a list that is whole on its first page is asked for fewer records, to see how it is paged")
    func short() async throws {
        func page(_ numbers: ClosedRange<Int>, _ more: String = "") -> HTTPResponse {
            Self.json(#"{"notes":\#(Self.records(numbers, #""id":"rN""#))\#(more)}"#)
        }
        let counted = try await Self.draft([
            "/notes": page(1...3), "/notes?limit=2": page(1...2), "/notes?page=2&limit=2": page(3...3),
        ])
        #expect(counted.yaml.contains("style: page, page: page, size: limit"), "\(counted.yaml)")
        #expect(counted.schema["notes"]?.key == "id" && !counted.yaml.contains("TODO pagination"))
        let addressed = try await Self.draft([
            "/notes": page(1...3, #","next":null"#),
            "/notes?limit=2": page(1...2, #","next":"http://far/notes?limit=2&after=r2""#),
        ])
        #expect(addressed.yaml.contains("style: next_url, next: next, size: limit"), "\(addressed.yaml)")
        #expect(!addressed.yaml.contains("TODO pagination"))
    }

    @Test("the length of the list in a header is the total")
    func total() async throws {
        let answer = Self.json(Self.records(1...3, #""id":N"#), [HTTPHeader("X-Total", "300")])
        let list = try await Self.draft(["/notes": answer]).schema["notes"]?.pull?.list
        #expect(list?.totalHeader == "X-Total" && list?.total == nil)
    }

    @Test(
        "of members that may be the key, the one by which a record is read is, then sys_id before number"
    )
    func keys() async throws {
        let records = Self.json(Self.records(1...3, #""number":"INC0N","sys_id":"a0N","iid":N"#))
        #expect(try await Self.draft(["/notes": records]).schema["notes"]?.key == "sys_id")
        let served = try await Self.draft([
            "/notes": records, "/notes/1": Self.json(#"{"iid":1,"sys_id":"a01"}"#),
        ])
        #expect(
            served.schema["notes"]?.key == "iid" && served.schema["notes"]?.pull?.single.isServed == true)
    }

    @Test("times with a space are times, and are sent so; empty ones do not matter")
    func times() async throws {
        let records = #"[{"id":1,"due":""},{"id":2,"due":"2026-11-25 10:00:02"},{"id":3,"due":null}]"#
        let due = try await Self.draft(["/notes": Self.json(records)]).schema["notes"]?[field: "due"]
        #expect(
            due?.kind == .time
                && due?.timeFormat == TimePattern("yyyy-MM-dd HH:mm:ss").map(TimeFormat.pattern))
    }

    @Test("a state is an enum only if it was seen in several values, which repeat")
    func enums() async throws {
        func kind(_ states: [String]) async throws -> Field.Kind? {
            let records = states.enumerated().map { number, state in #"{"id":\#(number),"state":"\#(state)"}"# }
            let list = "[\(records.joined(separator: ","))]"
            let draft = try await Self.draft(["/notes": Self.json(list)])
            return draft.schema["notes"]?[field: "state"]?.kind
        }
        let (once, rare) = (
            try await kind(Array(repeating: "opened", count: 9)), try await kind(["opened", "closed", "opened"])
        )
        #expect(once == .string && rare == .string)
        guard case .enum = try await kind(["opened", "closed", "opened", "closed", "opened"]) else {
            Issue.record("no enum")
            return
        }
    }

    @Test("a title is the summary rather than the description, and a list without changes has a TODO")
    func title() async throws {
        let records = Self.records(1...3, #""id":N,"description":"long","short_description":"sN""#)
        let draft = try await Self.draft(["/notes": Self.json(records)])
        #expect(draft.yaml.contains(#"title: "{short_description}""#))
        #expect(draft.yaml.contains("TODO pull.since"))
    }

    @Test(
        "a next page that no parameter asks for is a TODO",
        arguments: [
            (#""offset":"itr/3""#, "offset"), (#""meta":{"cursor":"abc"}"#, "meta.cursor"),
            (#""paging":{"next":{"after":"3"}}"#, "paging.next.after"), (#""has_more":true"#, "has_more"),
        ])
    func unused(_ member: String, _ place: String) async throws {
        let answer = #"{"notes":\#(Self.records(1...3, #""id":"rN""#)),\#(member)}"#
        let draft = try await Self.draft(["/notes": Self.json(answer)])
        #expect(draft.schema["notes"]?.pull?.list.style == .single)
        #expect(
            draft.yaml.contains("TODO pagination: its answer has \(place), and no parameter asks for the next page"))
    }

    @Test("the report names what each list lacks, and a token only if one is needed")
    func report() async throws {
        let draft = try await Self.draft(["/notes": Self.json(Self.records(1...3, #""id":"rN""#))])
        let text = DraftReport(draft: draft, file: "far.yaml", tokenFile: nil).text
        #expect(text.contains("Missing: 1\n  notes: pull.since: a parameter"), "\(text)")
        #expect(text.contains("\n  repairminder-sync run --schema ./far.yaml\n"), "\(text)")
        let withToken = DraftReport(draft: draft, file: "far.yaml").text
        #expect(withToken.contains("run --schema ./far.yaml --upstream.token-file FILE"), "\(withToken)")
        let named = DraftReport(draft: draft, file: "far.yaml", tokenFile: "my token").text
        #expect(named.contains("run --schema ./far.yaml --upstream.token-file 'my token'"), "\(named)")
    }

    private final class Recorder: HTTPTransport {
        let body: String
        let urls = Mutex<[String]>([])

        init(_ body: String) { self.body = body }

        func send(_ request: HTTPRequest) -> HTTPResponse {
            urls.withLock { $0.append(request.url) }
            return HTTPResponse(status: 200, body: Array(body.utf8))
        }
    }

    /// Each answer is a large one.
    private final class LargeAnswers: HTTPTransport {
        let held = Mutex(0)
        let mostHeld = Mutex(0)

        func send(_ request: HTTPRequest) -> HTTPResponse {
            let before = held.withLock { held in
                defer { held += 1 }
                return held
            }
            mostHeld.withLock { $0 = max($0, before) }
            var response = HTTPResponse(status: 200, body: Array(#"[{"id":1},{"id":2},{"id":3}]"#.utf8))
            response.share = AnswerShare(1) { [self] bytes in held.withLock { $0 -= bytes } }
            return response
        }
    }

    @Test("the memory of a large answer is given back before the next one is asked for")
    func memory() async {
        let transport = LargeAnswers()
        var lists = LiveLists(address: "http://far", transport: transport, token: nil, place: .bearer)
        _ = await lists.observed(["/orders", "/clients"])
        #expect(transport.mostHeld.withLock { $0 } == 0)
    }

    @Test("each request is announced before it is made")
    func asks() async {
        let asked = Mutex<[String]>([])
        let transport = Recorder(#"[{"id":1}]"#)
        var lists = LiveLists(address: "http://far", transport: transport, token: nil, place: .bearer)
        lists.asks = { number, path in asked.withLock { $0.append("\(number) http://far\(path)") } }
        _ = await lists.observed(["/orders"])
        let urls = transport.urls.withLock { $0 }
        #expect(urls.count > 1)
        #expect(asked.withLock { $0 } == urls.enumerated().map { "\($0.offset + 1) \($0.element)" })
    }

    @Test("no more requests are made than are allowed, and a note says what to do")
    func most() async {
        let transport = Recorder(#"[{"id":1}]"#)
        var lists = LiveLists(address: "http://far", transport: transport, token: nil, place: .bearer, requests: 5)
        _ = await lists.observed(["/a", "/b", "/c"])
        #expect(transport.urls.withLock { $0.count } == 5)
        #expect(lists.notes.contains { $0.contains("give fewer lists at a time") }, "\(lists.notes)")
    }

    @Test("an id that is a step to another place is not put into a path", arguments: [".", ".."])
    func steps(id: String) async {
        let transport = Recorder(#"{"data":[{"id":"\#(id)"}]}"#)
        var lists = LiveLists(address: "http://far", transport: transport, token: nil, place: .bearer)
        _ = await lists.observed(["/api/orders"])
        let paths = transport.urls.withLock { $0 }.map { $0.prefix { $0 != "?" } }
        #expect(Set(paths) == ["http://far/api/orders"])
    }
}
