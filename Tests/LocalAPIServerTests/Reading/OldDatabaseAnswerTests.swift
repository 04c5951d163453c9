import CacheStore
import EntitySchema
import Foundation
import JSONText
import Logging
import TestSupport
import Testing

@Suite("Answers from the database of an older version")
struct OldDatabaseAnswerTests {
    private let old: OldDatabase
    private let expected: OldDatabase.Expectations
    private let api: TestAPI

    init() throws {
        old = try OldDatabase()
        expected = try old.expectations()
        let clock = try #require(Timestamp(iso8601: expected.clock))
        api = try TestAPI(store: old.open(), now: clock, log: Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("every record, list, search, change, conflict and reminder is answered as the older version did")
    func sameAnswers() async throws {
        _ = await api.call("POST", "/v1/sync/pause")
        var different: [String] = []
        for answer in try old.answers() where try await !isSame(answer) { different.append(answer.path) }
        #expect(different.filter { path in !Self.changed.contains { $0(path) } } == [])
    }

    /// What is answered otherwise now.
    private static let changed: [@Sendable (String) -> Bool] = [
        hasOddTimes, hasNoSuchDay, hasOddBooleans, asksForPresence, findsLongTexts,
    ]

    /// Objects and lists could not be filtered; now they can be asked for by `.null`.
    private static func asksForPresence(_ path: String) -> Bool {
        path.contains(/&(address|tags|details|participant_ids|read_by)\.null=/)
    }

    /// Lists whose order or filter is a field with texts that are no times, or times that SQLite reads differently: they
    /// stand after all times now.
    private static func hasOddTimes(_ path: String) -> Bool {
        let uses = ["due_at", "paid_at", "created_at"].flatMap { ["sort=\($0)", "sort=-\($0)", "&\($0)"] }
        return path.hasPrefix("/v1/tasks?") || uses.contains { path.contains($0) }
    }

    /// Filters by a day that the calendar does not have, which are refused now.
    private static func hasNoSuchDay(_ path: String) -> Bool { path.contains("2026-02-30") }

    /// Filters of booleans that are spelled as numbers, which are refused now.
    private static func hasOddBooleans(_ path: String) -> Bool {
        path.contains(/&(is_company|is_urgent|is_open)(\.[a-z]+)?=[01]/)
    }

    /// Searches whose titles and snippets are cut now.
    private static func findsLongTexts(_ path: String) -> Bool { path.hasPrefix("/v1/search?q=xxxx") }

    /// Cursors have another form, a share of nothing is zero, a text made of others has no NUL, changes of records with tags
    /// ask for answers without compression, changes ask for JSON, and the refusal of a NUL names it, and long runs of combining
    /// marks.
    private static func normalized(_ text: String) -> String {
        text.replacing(#"nul\u0000cut"#, with: "nulcut")
            .replacing("-escape, a NUL or too many combining marks in a row, or", with: "-escape or")
            .replacing(/("next"|"[a-z]+"):"[A-Za-z0-9_-]{24,}"/) { "\($0.1):\"…\"" }
            .replacing(#","Accept-Encoding":"identity""#, with: "")
            .replacing(#","Accept":"application/json""#, with: "")
            .replacing(#""change_percent":null"#, with: #""change_percent":0.0"#)
    }

    @Test("the status counts the same")
    func sameCounts() async throws {
        let status = await api.call("GET", "/v1/status").json
        for (name, count) in expected.counts { #expect(status[name]?.integer == count, "\(name)") }
        for (entity, count) in expected.rows {
            #expect(status["entities"]?[entity]?["rows"]?.integer == count, "\(entity)")
        }
    }

    @Test("a repeated write gets its first answer")
    func repeatedWrites() async throws {
        for call in expected.repeated {
            let answer = await api.call(
                call.method, call.path, body: call.body ?? "", headers: ["Idempotency-Key": call.key])
            #expect(answer.status == call.status, "\(call.key)")
            #expect(answer.text == call.text, "\(call.key)")
        }
        let count = await api.call("GET", "/v1/pending/count").json
        #expect(count["pending"]?.integer == expected.counts["pending"])
    }

    private func isSame(_ expected: OldDatabase.Answer) async throws -> Bool {
        var answer = await api.call("GET", expected.path)
        var isSame = answer.status == expected.status
        if expected.status >= 400, let text = expected.text {
            // Errors have more members now, and name all mistakes.
            let detail = try JSONText(parsing: text)["detail"]?.string ?? ""
            return isSame && answer.json["detail"]?.string.map(Self.normalized)?.contains(detail) == true
        }
        if let text = expected.text { isSame = isSame && Self.normalized(answer.text) == Self.normalized(text) }
        if let etag = expected.etag, answer.text == expected.text {
            isSame = isSame && answer.header("ETag") == etag
        }
        guard let pages = expected.keys else { return isSame }
        let field = expected.path.firstMatch(of: /[?&]fields=(\w+)/).map { String($0.1) } ?? "id"
        for (number, keys) in pages.enumerated() where isSame {
            isSame = answer.json["data"]?.elements.map { OldDatabase.Key($0[field]?.plain ?? "null") } == keys
            guard number + 1 < pages.count, let next = answer.json["next"]?.string else { continue }
            let cursor = next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? next
            answer = await api.call("GET", "\(expected.path)&cursor=\(cursor)")
        }
        return isSame && answer.json["next"] == .null
    }
}
