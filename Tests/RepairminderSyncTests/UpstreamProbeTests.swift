import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

@Suite("What a probe of the upstream says about a schema")
struct UpstreamProbeTests {
    /// A path with its query, or only the path, and its answer.
    typealias Site = [String: HTTPResponse]

    private struct Answers: HTTPTransport {
        let site: Site

        func send(_ request: HTTPRequest) -> HTTPResponse {
            let target = String(request.url.dropFirst("http://far".count))
            let answer = site[target] ?? site[String(target.prefix { $0 != "?" })]
            return answer ?? HTTPResponse(status: 404, body: Array(#"{"error":"no such path"}"#.utf8))
        }
    }

    static func json(_ text: String, _ headers: [HTTPHeader] = []) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: headers + [HTTPHeader("Content-Type", "application/json")], body: Array(text.utf8))
    }

    static func findings(
        _ pull: String, upstream: String = "", price: String = "{ type: money }", more: String? = nil,
        lines: Bool = false, _ site: Site
    ) async throws -> [Finding] {
        let yaml = """
            schema: far
            upstream: { base_url: "http://far"\(upstream.isEmpty ? "" : ", \(upstream)") }
            entities:
              notes:
                fields:
                  id: { type: string }
                  text: { type: string }
                  price: \(price)
                  updated_at: { type: time }
                pull: \(pull)
            \(more.map { "  others: { fields: { id: { type: string } }, \($0) }" } ?? "")
            \(lines ? "  lines: { fields: { id: { type: string }, note_id: { type: reference, to: notes } } }" : "")
            """
        let schema = try EntitySchema(yaml: yaml, file: "far.yaml")
        let now = try #require(Timestamp(iso8601: "2026-03-01T00:00:00Z"))
        let transport = WatchedTransport(Answers(site: site))
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, now: { now })
        return await UpstreamProbe(schema: schema, upstream: upstream, transport: transport, now: now).findings()
    }

    static let note = #"{"id":"a","text":"x","price":1.50,"updated_at":"2026-01-01T00:00:00Z"}"#
    /// `list` is the answer to the list, in which NOTE stands for a note.
    static func site(_ list: String, _ headers: [HTTPHeader] = []) -> Site {
        ["/notes": json(list.replacing("NOTE", with: note), headers), "/notes/a": json(note)]
    }

    static func says(
        _ level: Finding.Level, _ words: String, advising advice: String? = nil, in findings: [Finding]
    ) -> Bool {
        findings.contains { found in
            found.level == level && found.message.contains(words)
                && advice.map { (found.advice ?? "").contains($0) } ?? true
        }
    }

    @Test("a schema that fits has nothing but what was found, and where")
    func fits() async throws {
        let site = Self.site(#"{"data":[NOTE],"total":1}"#)
        let found = try await Self.findings(
            "{ path: /notes, records: data, record: { path: \"/notes/{id}\" }, pagination: { style: single, total: total } }",
            site)
        #expect(found.allSatisfy { $0.level == .ok }, "\(found.map(\.text))")
        #expect(Self.says(.ok, "1 record at data, 1 in all (total), no next page", in: found))
        #expect(Self.says(.ok, "GET /notes/a: the record is the answer itself", in: found))
    }

    @Test(
        "a list that cannot be read is reported once, with advice that fits the reason",
        arguments: [
            (404, "correct pull.path"), (500, "try again later; if it keeps failing, correct pull.path or pull.query"),
            (429, "try again later"), (401, "correct the token, or auth.send in the schema"),
        ])
    func unreadable(status: Int, advice: String) async throws {
        let answer = HTTPResponse(status: status, body: Array(#"{"error":"why"}"#.utf8))
        let found = try await Self.findings("{ path: /notes, records: data }", ["/notes": answer])
        let list = try #require(found.first { $0.level == .error })
        #expect(list.message.hasPrefix("GET /notes answered \(status)") && list.advice == advice, "\(list.text)")
    }

    @Test("a next page is named by the place that says so")
    func nextPage() async throws {
        let site = Self.site(#"{"data":[NOTE],"meta":{"after":"b"}}"#)
        let cursor = "pagination: { style: cursor, cursor: after, next: meta.after, page_size: 1 }"
        let found = try await Self.findings("{ path: /notes, records: data, \(cursor) }", site)
        #expect(Self.says(.ok, "1 record at data, a next page (meta.after)", in: found), "\(found.map(\.text))")
    }

    @Test("records that stand elsewhere are found")
    func records() async throws {
        let site = ["/notes": Self.json(#"{"result":{"items":[\#(Self.note)]}}"#)]
        let found = try await Self.findings("{ path: /notes, records: data }", site)
        #expect(Self.says(.error, "no list at data", advising: "set pull.records: result.items", in: found))
    }

    @Test("the place of a single record is where it was found, not where the schema would have it first")
    func placeOfRecord() async throws {
        for (answer, place) in [(Self.note, "the answer itself"), (#"{"data":\#(Self.note)}"#, "at data")] {
            let site = ["/notes": Self.json(#"{"data":[\#(Self.note)]}"#), "/notes/a": Self.json(answer)]
            let found = try await Self.findings("{ path: /notes }", upstream: "records: data", site)
            #expect(Self.says(.ok, "the record is \(place)", in: found), "\(found.map(\.text))")
        }
    }

    @Test("a single record that stands elsewhere is found")
    func single() async throws {
        let site = [
            "/notes": Self.json("[\(Self.note)]"), "/notes/a": Self.json(#"{"result":{"note":\#(Self.note)}}"#),
        ]
        let found = try await Self.findings(#"{ path: /notes, record: { path: "/notes/{id}", at: note } }"#, site)
        #expect(Self.says(.error, "/notes/a", advising: "set pull.record.at: result.note", in: found))
    }

    @Test(
        "pages that pagination does not find are reported with the style that would",
        arguments: [
            (#"{"data":[NOTE],"has_more":true}"#, [HTTPHeader](), "pagination.more: has_more"),
            (#"{"data":[NOTE],"hasNext":true}"#, [], "pagination.more: hasNext"),
            (#"{"data":[NOTE],"next":"http://far/notes?page=2"}"#, [], "style: next_url, next: next"),
            (#"{"data":[NOTE],"@odata.nextLink":"/b"}"#, [], #"style: next_url, next: "\"@odata.nextLink\"" }"#),
            (#"{"data":[NOTE],"meta":{"next_cursor":"b"}}"#, [], "style: cursor"),
            (#"{"data":[NOTE],"offset":"itr/rec"}"#, [], "style: cursor, cursor: offset, next: offset"),
            (#"{"data":[NOTE],"paging":{"next":{"after":"b"}}}"#, [], "cursor: after, next: paging.next.after"),
            (#"{"data":[NOTE]}"#, [HTTPHeader("Link", "<http://far/notes?page=2>; rel=\"next\"")], "style: link"),
            (#"{"data":[NOTE]}"#, [HTTPHeader("X-Next-Cursor", "0x28")], "style: header, header: X-Next-Cursor"),
        ])
    func pages(_ answer: String, _ headers: [HTTPHeader], _ advice: String) async throws {
        let site = Self.site(answer, headers)
        let found = try await Self.findings(
            "{ path: /notes, records: data, record: { path: \"/notes/{id}\" } }", site)
        #expect(Self.says(.error, "more pages", advising: advice, in: found), "\(found.map(\.text))")
    }

    @Test("a next page that is not where the schema looks is no reason to name again what says that there is one")
    func lostNext() async throws {
        let pagination = "pagination: { style: cursor, cursor: after, next: cursor, more: has_more }"
        let found = try await Self.findings(
            "{ path: /notes, records: data, \(pagination) }", Self.site(#"{"data":[NOTE],"has_more":true}"#))
        #expect(Self.says(.error, "more pages (has_more)", advising: "correct pagination.next", in: found))
    }

    @Test("a list that is as long as a usual page may be cut, as the daemon says")
    func cut() async throws {
        let notes = (1...21).map { #"{"id":"\#($0)","text":"x"}"# }
        func found(_ count: Int) async throws -> [Finding] {
            let answer = "[\(notes.prefix(count).joined(separator: ","))]"
            return try await Self.findings("{ path: /notes, record: none }", ["/notes": Self.json(answer)])
        }
        let words = "the list may be cut: it ends at exactly 20 records"
        #expect(Self.says(.warning, words, advising: "set pagination", in: try await found(20)))
        #expect(!Self.says(.warning, "may be cut", in: try await found(21)))
    }

    @Test("a parameter for the page that changes nothing is noticed")
    func samePage() async throws {
        let site = Self.site(#"{"data":[NOTE],"total":2}"#)
        let found = try await Self.findings(
            "{ path: /notes, records: data, pagination: { style: page, page: seite, page_size: 1, total: total } }",
            site)
        #expect(Self.says(.error, "the second page has the records of the first", in: found))
    }

    @Test("a total that no one named is offered unless it is a page's, one that is not there is reported")
    func totals() async throws {
        let pages = "{ path: /notes, records: data, pagination: { style: page, page_size: 1, more: more } }"
        let page = try await Self.findings(pages, Self.site(#"{"data":[NOTE],"count":1,"more":true}"#))
        #expect(!Self.says(.warning, "count", in: page))
        let site = Self.site(#"{"data":[NOTE],"meta":{"totalItems":1}}"#)
        for pagination in ["{ style: single }", "{ style: single, total: count }"] {
            let found = try await Self.findings("{ path: /notes, records: data, pagination: \(pagination) }", site)
            #expect(Self.says(.warning, "total", advising: "meta.totalItems", in: found))
        }
    }

    @Test("a total in a header is offered, and read where the schema names it")
    func totalsInHeaders() async throws {
        let site = Self.site("[NOTE]", [HTTPHeader("X-WP-Total", "1")])
        let found = try await Self.findings("{ path: /notes }", site)
        #expect(Self.says(.warning, "total", advising: "pagination.total: { header: X-WP-Total }", in: found))
        let total = "pagination: { style: single, total: { header: x-wp-total } }"
        let named = try await Self.findings("{ path: /notes, \(total) }", site)
        #expect(Self.says(.ok, "1 in all", in: named), "\(named.map(\.text))")
    }

    @Test("times in another form than the records have are noticed where a filter by time fails")
    func formats() async throws {
        let note = Self.note.replacing("2026-01-01T00:00:00Z", with: "2026-01-01 00:00:00")
        let since = "since: { param: after, field: updated_at }"
        let all = Self.json("[\(note)]")
        let form = #"pull.since.format: "yyyy-MM-dd HH:mm:ss""#
        let ignored = try await Self.findings("{ path: /notes, \(since) }", ["/notes": all])
        #expect(Self.says(.error, "changed before", advising: form, in: ignored), "\(ignored.map(\.text))")
        let refusal = HTTPResponse(status: 400, body: Array("no date".utf8))
        let site = ["/notes": all, "/notes?after=2026-03-01T00%3A00%3A00.000Z": refusal]
        let refused = try await Self.findings("{ path: /notes, \(since) }", site)
        #expect(Self.says(.error, "is not accepted", advising: form, in: refused), "\(refused.map(\.text))")
    }

    @Test("a member that a window tests and no record has is an error")
    func window() async throws {
        let found = try await Self.findings(
            "{ path: /notes, where: { text: x } }", Self.site(#"[{"id":"a","price":1.50}]"#))
        #expect(Self.says(.error, "text: no record of the list has it, and pull.where tests it", in: found))
    }

    @Test("a list of its own for changes is read as well, and its own keys are named")
    func changesList() async throws {
        let pull = """
            { path: /notes, since: { param: since, field: updated_at }, \
            changes: { path: /changed, records: rows } }
            """
        let site = Self.site("[NOTE]")
        let lost = try await Self.findings(pull, site)
        #expect(Self.says(.ok, "GET /notes: 1 record", in: lost), "\(lost.map(\.text))")
        #expect(Self.says(.error, "GET /changed answered 404", advising: "correct pull.changes.path", in: lost))
        let rows = Self.json(#"{"rows":[]}"#)
        let empty = try await Self.findings(pull, site.merging(["/changed": rows]) { $1 })
        #expect(Self.says(.ok, "GET /changed: no records at rows", in: empty), "\(empty.map(\.text))")
        #expect(!empty.contains { $0.level == .error })
        let elsewhere = Self.json(#"{"items":[\#(Self.note)]}"#)
        let moved = try await Self.findings(pull, site.merging(["/changed": elsewhere]) { $1 })
        #expect(Self.says(.error, "no list at rows", advising: "set pull.changes.records: items", in: moved))
        let deaf = Self.json(#"{"rows":[\#(Self.note)]}"#)
        let whole = try await Self.findings(pull, site.merging(["/changed": deaf]) { $1 })
        #expect(Self.says(.error, "since=2026-03-01", advising: "since.param", in: whole), "\(whole.map(\.text))")
    }

    @Test("a filter by time that the upstream does not know is noticed")
    func changes() async throws {
        let site = Self.site("[NOTE]")
        let found = try await Self.findings("{ path: /notes, since: { param: seit, field: updated_at } }", site)
        #expect(Self.says(.error, "seit=", advising: "since.param", in: found))
        let known = site.merging(["/notes?seit=2026-03-01T00%3A00%3A00.000Z": Self.json("[]")]) { $1 }
        let well = try await Self.findings("{ path: /notes, since: { param: seit, field: updated_at } }", known)
        #expect(Self.says(.ok, "0 records changed since", in: well))
        let header = #"{ path: /notes, headers: { If-Since: "{$since}" }, since: { field: updated_at } }"#
        #expect(Self.says(.error, "changed before", advising: "{$since}", in: try await Self.findings(header, site)))
    }

    @Test(
        "a list that is left out when nothing changed, or at all, is noticed",
        arguments: [(#"{"data":{}}"#, "data"), ("{}", "{}"), ("[]", "{}")])
    func leftOut(_ answer: String, _ empty: String) async throws {
        let since = "since: { param: seit, field: updated_at }"
        let site = Self.site(#"{"data":{"notes":[NOTE]}}"#).merging([
            "/notes?seit=2026-03-01T00%3A00%3A00.000Z": Self.json(answer)
        ]) { $1 }
        let found = try await Self.findings("{ path: /notes, records: data.notes, \(since) }", site)
        #expect(Self.says(.error, "seit=", advising: "set pull.empty: \(empty)", in: found), "\(found.map(\.text))")
        let well = try await Self.findings("{ path: /notes, records: data.notes, empty: \(empty), \(since) }", site)
        #expect(Self.says(.ok, "0 records changed since", in: well))
        let first = try await Self.findings("{ path: /notes }", Self.site("{}"))
        #expect(Self.says(.error, "/notes", advising: "set pull.empty: {}", in: first))
    }

    @Test("a token that only the last page has is tried, unless that page is far")
    func tokenOfLastPage() async throws {
        let pages = "pagination: { style: cursor, cursor: after, next: next, page_size: 1, size: none }"
        let pull = "{ path: /notes, records: data, since: { token: sync, param: sync }, \(pages) }"
        let second = Self.json(#"{"data":[{"id":"b"}],"sync":"t1"}"#)
        let site = [
            "/notes": Self.json(#"{"data":[\#(Self.note)],"next":"2"}"#), "/notes?after=2": second,
            "/notes?sync=t1": Self.json(#"{"data":[],"sync":"t2"}"#),
        ]
        let found = try await Self.findings(pull, site)
        #expect(Self.says(.ok, "with the token at sync: 0 records changed since", in: found), "\(found.map(\.text))")
        let endless = Self.json(#"{"data":[\#(Self.note)],"next":"2"}"#)
        let far = try await Self.findings(pull, ["/notes": endless])
        #expect(Self.says(.ok, "not tried", in: far))
    }

    @Test("a token is tried if the list has one page")
    func token() async throws {
        let pull = "{ path: /notes, records: data, since: { token: meta.sync, param: sync } }"
        let first = Self.site(#"{"data":[NOTE],"meta":{"sync":"t1"}}"#)
        let ignored = try await Self.findings(pull, first)
        #expect(Self.says(.error, "all its records again", advising: "since.param", in: ignored))
        let known = first.merging(["/notes?sync=t1": Self.json(#"{"data":[],"meta":{"sync":"t2"}}"#)]) { $1 }
        let well = try await Self.findings(pull, known)
        #expect(Self.says(.ok, "with the token at meta.sync: 0 records changed since", in: well))
        let refused = first.merging(["/notes?sync=t1": HTTPResponse(status: 400)]) { $1 }
        #expect(Self.says(.error, "is not accepted", in: try await Self.findings(pull, refused)))
        let absent = try await Self.findings(pull, Self.site(#"{"data":[NOTE],"paging":{"sync":"t1"}}"#))
        #expect(Self.says(.error, "no token at meta.sync", advising: "paging.sync", in: absent))
        let long = try await Self.findings(
            "{ path: /notes, records: data, pagination: { style: next_url, next: next }, since: { token: sync, param: s } }",
            Self.site(#"{"data":[NOTE],"next":"http://far/notes?page=2"}"#))
        #expect(Self.says(.ok, "the token at sync was not tried", in: long))
    }

    @Test("a list of deletions is read, and its places are compared")
    func deletions() async throws {
        let answer = Self.json(#"{"gone":[{"note_id":"z","at":"2026-02-01T00:00:00Z"}]}"#)
        func said(_ deleted: String, _ answer: HTTPResponse = answer) async throws -> [Finding] {
            try await Self.findings(
                "{ path: /notes, changed_at: updated_at, deleted: { path: /gone, pagination: { style: single }, \(deleted) } }",
                Self.site("[NOTE]").merging(["/gone": answer]) { $1 })
        }
        let well = try await said("records: gone, key: note_id, at: at")
        #expect(Self.says(.ok, "GET /gone: 1 deletion at gone", in: well), "\(well.map(\.text))")
        #expect(!well.contains { $0.level == .error })
        let moved = try await said("records: data, key: note_id, at: at")
        #expect(Self.says(.error, "GET /gone", advising: "set pull.deleted.records: gone", in: moved))
        let keyless = try await said("records: gone, key: record, at: when")
        #expect(Self.says(.error, "1 of 1 deletions have no key at record", advising: "deleted.key", in: keyless))
        #expect(Self.says(.error, "1 of 1 deletions have no time at when", advising: "deleted.at", in: keyless))
        let none = try await said("records: gone, key: note_id, at: at", Self.json(#"{"gone":[]}"#))
        #expect(Self.says(.ok, "no deletions at gone", in: none))
    }

    @Test("records that come with others are reported, and looked for where they are elsewhere")
    func details() async throws {
        let lines = #"[{"id":"l","qty":1},{"id":"m","qty":2}]"#
        let note = #"{"id":"a","text":"x","price":1.50,"updated_at":"2026-01-01T00:00:00Z","lines":\#(lines)}"#
        let site = [
            "/notes": Self.json("[\(note)]"), "/notes/a": Self.json(note),
            "/notes/a/lines": Self.json(#"{"rows":\#(lines)}"#),
        ]
        func said(_ detail: String) async throws -> [Finding] {
            try await Self.findings("{ path: /notes, detail: { into: lines, \(detail) } }", lines: true, site)
                .filter { $0.check == "lines" }
        }
        let listed = try await said("embedded: lines")
        #expect(Self.says(.ok, "2 records at lines, of 1 record of notes", in: listed), "\(listed.map(\.text))")
        #expect(Self.says(.ok, "kept beside the schema's fields: qty", in: listed))
        let moved = try await said("embedded: rows")
        #expect(Self.says(.warning, "no record of notes has a list at rows", advising: "to lines", in: moved))
        let single = try await said("embedded: lines, read: single, when_changed: any")
        #expect(Self.says(.ok, "2 records at lines", in: single), "\(single.map(\.text))")
        let path = #"path: "/notes/{id}/lines", when_changed: any, records: "#
        #expect(Self.says(.ok, "GET /notes/a/lines: 2 records at rows", in: try await said(path + "rows")))
        let lost = try await said(path + "data")
        #expect(Self.says(.error, "GET /notes/a/lines", advising: "set pull.detail.records: rows", in: lost))
    }

    @Test("a list and a record that are asked for by POST are called so")
    func methods() async throws {
        let found = try await Self.findings(
            #"{ call: POST /search, records: data, record: { call: POST /notes/find, body: { id: "{id}" } } }"#,
            ["/search": Self.json(#"{"data":[\#(Self.note)]}"#), "/notes/find": Self.json(Self.note)])
        #expect(Self.says(.ok, "POST /search: 1 record", in: found), "\(found.map(\.text))")
        #expect(Self.says(.ok, "POST /notes/find: the record is the answer itself", in: found))
    }

    @Test("a next page at another address is no matter of where the records are")
    func elsewhere() async throws {
        let found = try await Self.findings(
            "{ path: /notes, records: data, pagination: { style: next_url, next: next } }",
            Self.site(#"{"data":[NOTE],"next":"http://near/notes?page=2"}"#))
        #expect(Self.says(.error, "next page is at", advising: "pagination", in: found), "\(found.map(\.text))")
        #expect(!found.contains { $0.advice?.contains("records") == true })
    }

    @Test("a key that the records do not have is replaced by one that they have")
    func keys() async throws {
        let site = ["/notes": Self.json(#"[{"uuid":"a","text":"x"},{"uuid":"b","text":"y"}]"#)]
        let found = try await Self.findings("{ path: /notes }", site)
        #expect(Self.says(.error, "2 of 2 records have no id", advising: "key: uuid", in: found))
    }

    @Test("a path that does not exist, and an account that is elsewhere, are errors")
    func missing() async throws {
        let lost = try await Self.findings("{ path: /note }", [:])
        #expect(Self.says(.error, "no such path", advising: "pull.path", in: lost))
        let found = try await Self.findings(
            "{ path: /notes }", upstream: "account: { path: /me, id: id }", ["/me": Self.json(#"{"user":{"id":7}}"#)])
        #expect(Self.says(.error, "/me", advising: "upstream.account.id: user.id", in: found))
    }

    @Test("after what concerns the whole upstream, no other list is asked for")
    func stops() async throws {
        let busy = HTTPResponse(status: 429, headers: [HTTPHeader("Retry-After", "60")])
        let found = try await Self.findings(
            "{ path: /notes }", more: "pull: { path: /others }", ["/notes": busy, "/others": busy])
        #expect(found.map(\.check) == ["notes"])
        let missing = try await Self.findings("{ path: /notes }", more: "pull: { path: /others }", [:])
        #expect(missing.map(\.check) == ["notes", "others"])
    }
}
