import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

@Suite("Looking up a lost creation in a list of several pages")
struct CreateReconcilerTests {
    /// The finding for a creation with the notes "new", when the upstream answers these pages one after another.
    ///
    /// `since`: how long ago its attempt was. `more`: what says that there are more pages. `singles`: what is served by key.
    /// `known`: the key of a cached record. `total`: the list's length in its answers. `age`: how long a gateway has kept them.
    private func finding(
        _ pages: [String], notes: JSONText = "new", since: Duration? = nil, more: String? = nil,
        singles: String = "[]", lookUp: String = "{ match: [notes] }", id: JSONText? = nil, known: JSONText? = nil,
        hasOnePage: Bool = false, tried: Int = 1, total: Int? = nil, partial: String? = nil, age: Duration? = nil
    ) async throws -> (CreateReconciler.Finding, requests: Int) {
        let test = try TestPull(create: "call: POST /orders, look_up: \(lookUp)")
        try test.upstream.serveSingles(of: singles)
        if let known {
            _ = try await test.store.apply(
                PulledPage(entity: "orders", records: JSONText.array([.object(["id": known])]).text),
                at: test.clock.timestamp)
        }
        let body = JSONText.object(members: (id.map { [("id", $0)] } ?? []) + [("notes", notes)])
        var change = try await test.lostCreation(body, sent: since)
        change.tried = tried
        let answers = try pages.map { try JSONText(parsing: $0) }
        let count = Counter()
        test.upstream.answering { request in
            let number = count.next() - 1
            let records = answers[number % answers.count]
            var page = Page(
                records: records, count: records.elements.count,
                next: request.position == nil && !hasOnePage ? "2" : nil)
            page.unfollowed = more
            page.total = total
            page.partial = partial
            page.age = age
            return .success(page)
        }
        return (try await test.lookUp(change), test.upstream.requests.count)
    }

    @Test("the entity's own list is asked for as a full pull asks for it")
    func asksAsPull() async throws {
        let test = try TestPull(
            #"query: { q: "time >= {$since}" }, since: { field: updated_at, from: "1970-01-01T00:00:00Z" }"#,
            create: "call: POST /orders, look_up: { match: [notes] }")
        try test.upstream.serve([#"[{"id":"n","notes":"new"}]"#])
        let finding = try await test.lookUp(test.lostCreation(.object(["notes": "new"]), sent: nil))
        #expect(finding.key == "n", "\(finding)")
        let asked = try #require(test.upstream.requests.first)
        #expect(asked == test.schema["orders"]?.pull?.request(of: "orders"))
        #expect(asked.request.path.contains("1970"), "\(asked.request.path)")
    }

    @Test("a record that slid past the pages is found by the next reading")
    func slides() async throws {
        let (finding, requests) = try await finding([
            #"[{"id":"a"},{"id":"b"}]"#, #"[{"id":"d"}]"#, #"[{"id":"b"},{"id":"n","notes":"new"}]"#,
        ])
        #expect(finding.key == "n", "\(finding)")
        #expect(requests == 3)
    }

    @Test("a record is absent when two readings show the same list")
    func absent() async throws {
        let (finding, requests) = try await finding([#"[{"id":"a","notes":"x"},{"id":"b"}]"#, #"[{"id":"d"}]"#])
        #expect(finding.isAbsent, "\(finding)")
        #expect(requests == 5, "two readings, and one as a witness")
    }

    @Test(
        "members that change with each reading, and that the look-up does not compare, do not make the list another one"
    )
    func signed() async throws {
        let pages = (1...4).flatMap { reading in
            [
                #"[{"id":"a","notes":"x","served_at":"\#(reading)"},{"id":"b","served_at":"\#(reading)"}]"#,
                #"[{"id":"d","picture":"https://files.example/d?signature=\#(reading)"}]"#,
            ]
        }
        let (finding, requests) = try await finding(pages)
        #expect(finding.isAbsent, "\(finding)")
        #expect(requests == 5, "two readings, and one as a witness")
    }

    @Test("a record whose compared value changes makes the list another one")
    func changed() async throws {
        let pages = (1...4).flatMap { [#"[{"id":"a","notes":"\#($0)"}]"#, #"[{"id":"d"}]"#] }
        let (finding, _) = try await finding(pages)
        #expect(finding.delay != nil, "\(finding)")
    }

    @Test("a list of one page is read again too, unless it shows a change after the attempt")
    func onePage() async throws {
        let pages = [#"[{"id":"a"}]"#, #"[{"id":"a"},{"id":"n","notes":"new"}]"#]
        let (finding, requests) = try await finding(pages, since: .seconds(61), hasOnePage: true)
        #expect(finding.key == "n", "\(finding)")
        #expect(requests == 2)
    }

    @Test(
        "a list that a gateway has kept for too long proves nothing", arguments: [31, 91])
    func keptByGateway(age: Int) async throws {
        let (finding, _) = try await finding(
            [#"[{"id":"a"}]"#], since: .seconds(90), hasOnePage: true, age: .seconds(age))
        #expect(finding.delay != nil, "\(finding)")
    }

    @Test("a list that keeps changing proves nothing yet")
    func restless() async throws {
        let (finding, requests) = try await finding([#"[{"id":"a"}]"#, #"[{"id":"b"}]"#, #"[{"id":"c"}]"#])
        #expect(finding.delay != nil, "\(finding)")
        #expect(requests == 8, "four readings")
    }

    /// The second reading shows the same records as the first, in another order.
    private let shuffled = [
        #"[{"id":"a","notes":"x"},{"id":"b","notes":"y"}]"#, #"[{"id":"d","notes":"z"}]"#,
        #"[{"id":"d","notes":"z"},{"id":"a","notes":"x"}]"#, #"[{"id":"b","notes":"y"}]"#,
    ]

    @Test("a record is absent from a list whose order keeps changing if each reading shows as many as the total")
    func otherOrder() async throws {
        let (finding, requests) = try await finding(shuffled, total: 3)
        #expect(finding.isAbsent, "\(finding)")
        #expect(requests == 5, "two readings, and one as a witness")
        let sliding = [shuffled[0], shuffled[3]] + shuffled[2...]
        let doubtful: [(pages: [String], total: Int?)] = [(shuffled, nil), (sliding, 3)]
        for (pages, total) in doubtful {
            let (finding, _) = try await self.finding(pages, total: total)
            #expect(finding.delay != nil, "a record may have slid past the pages: \(finding)")
        }
    }

    /// Readings of a list of two pages; others have added these to the second.
    private func growing(_ added: String...) -> [String] {
        added.flatMap { more in
            [#"[{"id":"a","notes":"x"},{"id":"b","notes":"y"}]"#, #"[{"id":"d","notes":"z"}\#(more)]"#]
        }
    }

    @Test("a record is absent from a list that others extend once three readings agree but for what is new")
    func extended() async throws {
        let e = #",{"id":"e","notes":"e"}"#
        let f = #",{"id":"f","notes":"f"}"#
        let (finding, requests) = try await finding(growing("", e, e + f))
        #expect(finding.isAbsent, "\(finding)")
        #expect(requests == 7, "three readings, and one as a witness")
        let (growing, _) = try await self.finding(growing("", e, e + f), total: 9)
        #expect(growing.delay != nil, "the total has grown since its first page: \(growing)")
    }

    @Test("a record that one of them does not have, or has in another place, makes the list another one")
    func extendedAndChanged() async throws {
        let e = #",{"id":"e","notes":"e"}"#
        let f = #",{"id":"f","notes":"f"}"#
        for readings in [growing("", e, f, e + f), growing(e + f, e + f + e, f + e, e)] {
            let (finding, _) = try await finding(readings)
            #expect(finding.delay != nil, "\(finding)")
        }
    }

    @Test("a list that has kept changing for a day is left to a person", arguments: [(20, true), (19, false)])
    func restlessForADay(_ tried: Int, _ isLeft: Bool) async throws {
        let pages = [#"[{"id":"a"}]"#, #"[{"id":"b"}]"#, #"[{"id":"c"}]"#]
        let (finding, _) = try await finding(pages, since: .seconds(86_400), tried: tried)
        #expect((isLeft ? finding.doubt : finding.delay) != nil, "\(finding)")
    }

    @Test(
        "a list that says that it lacks records is read again, and for a day at most",
        arguments: [(19, false), (20, true)])
    func partial(_ tried: Int, _ isLeft: Bool) async throws {
        let pages = [#"[{"id":"a","notes":"x"}]"#, "[]"]
        let (finding, _) = try await finding(pages, since: .seconds(86_400), tried: tried, partial: "timed_out")
        let reason = try #require(isLeft ? finding.doubt : finding.delay, "\(finding)")
        #expect(reason.contains("timed_out"))
    }

    /// Changed `seconds` after the attempt of ten seconds ago.
    private func list(_ seconds: Int) -> [String] {
        let time = ManualClock().timestamp - .seconds(10) + .seconds(seconds)
        return [#"[{"id":"a","notes":"x","updated_at":"\#(time)"}]"#, "[]"]
    }

    @Test("#9 a list that may be older than the attempt does not say that the record is absent")
    func tooEarly() async throws {
        for pages in [list(-60), list(1), list(5), list(3600), [#"[{"id":"a"}]"#, "[]"]] {
            let (finding, _) = try await finding(pages, since: .seconds(10))
            #expect(finding.delay != nil, "\(finding)")
        }
    }

    @Test("when the time to settle is over, a record that no list has is absent")
    func settled() async throws {
        let (finding, _) = try await finding(list(-60), since: .seconds(60))
        #expect(finding.isAbsent, "\(finding)")
    }

    @Test("an empty list says so where the cache has no such record either, and nothing where it has some")
    func empty() async throws {
        let (finding, _) = try await finding(["[]"], since: .seconds(60))
        #expect(finding.isAbsent, "\(finding)")
        await #expect(throws: UpstreamError.self) {
            try await self.finding(["[]"], since: .seconds(60), known: "x")
        }
    }

    @Test("a listed record that lacks what was sent is read by its key before it is judged")
    func partial() async throws {
        for (single, isFound) in [(#"{"id":"b","notes":"new"}"#, true), (#"{"id":"b","notes":"old"}"#, false)] {
            let (finding, _) = try await finding(
                [#"[{"id":"b"}]"#, "[]"], since: .seconds(61), singles: "[\(single)]")
            #expect(isFound ? finding.key != nil : finding.isAbsent, "\(finding)")
        }
    }

    @Test("a record with other values is another one, also if it does not show what was not sent")
    func other() async throws {
        let (finding, _) = try await finding(
            [#"[{"id":"b"}]"#, "[]"], since: .seconds(61), singles: #"[{"id":"b","notes":"old"}]"#,
            lookUp: "{ match: [notes, updated_at] }")
        #expect(finding.isAbsent, "\(finding)")
    }

    @Test("an upstream without single records is asked for its list, also by key")
    func byKeyInList() async throws {
        for (key, isFound) in [("new-key", true), ("other", false)] {
            let (finding, _) = try await finding(
                [#"[{"id":"\#(key)"}]"#, "[]"], since: .seconds(61), lookUp: "key", id: "new-key", known: "old")
            #expect(isFound ? finding.key != nil : finding.isAbsent, "\(finding)")
        }
    }

    @Test("a list that may be cut does not say that the record is absent")
    func cut() async throws {
        let (finding, _) = try await finding(list(-60), since: .seconds(61), more: "Link")
        #expect(finding.doubt?.contains("may be cut") == true)
    }

    @Test(
        "a list whose total is more than its records is read again, and for ten minutes at most",
        arguments: [(61, 8, false), (600, 7, false), (600, 8, true)])
    func short(_ seconds: Int, _ tried: Int, _ isLeft: Bool) async throws {
        let words = "the list may be cut: its total is 121 more than its records"
        let (finding, _) = try await finding(list(-60), since: .seconds(seconds), tried: tried, total: 122)
        #expect((isLeft ? finding.doubt : finding.delay) == words, "\(finding)")
    }

    @Test("#9 a record that may be the lost one, as the server writes it, is left to a person and never sent again")
    func nearMatch() async throws {
        let pages = [#"[{"id":"b","notes":"new"}]"#, "[]"]
        let (finding, _) = try await finding(pages, notes: "  New ", since: .seconds(61))
        #expect(finding.doubt?.contains("b") == true)
    }

    @Test(
        "what a list shows without a key may be the lost record, unless it has other values",
        arguments: [
            ("null", true), ("false", true), (#"{"id":null,"notes":"new"}"#, true), (#"{"id":"","notes":"new"}"#, true),
            (#"{"notes":" New"}"#, true), (#"{"error":"x"}"#, true),
            (#"{"id":null,"notes":"x"}"#, false), (#"{"id":"c","notes":"x"}"#, false),
        ])
    func nameless(_ element: String, _ mayBe: Bool) async throws {
        let pages = [#"[{"id":"a","notes":"x"},\#(element)]"#, "[]"]
        let (finding, _) = try await finding(pages, since: .seconds(61))
        #expect(mayBe ? finding.doubt?.contains("without a key") == true : finding.isAbsent, "\(finding)")
        // It may still become the record.
        #expect(try await self.finding(pages, since: .seconds(10)).0.delay != nil)
    }

    /// A deleted record with the notes "new", last changed so long ago; nil if it does not say so.
    private func deleted(_ age: Duration?) -> [String] {
        let time = age.map { #""updated_at":"\#(ManualClock().timestamp - $0)","# } ?? ""
        let record = #"{"id":"b",\#(time)"notes":"new","deleted_at":"2020-01-01T00:00:00Z"}"#
        return [#"[\#(record),{"id":"a","notes":"x"}]"#, "[]"]
    }

    @Test("a record that was deleted before the attempt is another one")
    func deletedBefore() async throws {
        let (finding, _) = try await finding(deleted(.seconds(3600)), since: .seconds(61))
        #expect(finding.isAbsent, "\(finding)")
    }

    @Test("a record that was deleted after the attempt is the lost one")
    func deletedSince() async throws {
        let (finding, _) = try await finding(deleted(.seconds(30)), since: .seconds(61))
        #expect(finding.key == "b", "\(finding)")
    }

    @Test("a deleted record of an unknown time is left to a person")
    func deletedSometime() async throws {
        let (finding, _) = try await finding(deleted(nil), since: .seconds(61))
        #expect(finding.doubt?.contains("b") == true)
    }

    @Test("a list that goes on and on is left to a person before it fills the memory")
    func endless() async throws {
        let test = try TestPull(create: "call: POST /orders, look_up: { match: [notes] }")
        test.upstream.answering { request in
            let number = request.position.flatMap { Int($0) } ?? 1
            let records = [JSONText.object(["id": .integer(2 * number)]), .object(["id": .integer(2 * number + 1)])]
            return .success(Page(records: .array(records), count: 2, next: "\(number + 1)"))
        }
        let change = try await test.lostCreation(.object(["notes": "new"]), sent: nil)
        let finding = try await test.lookUp(change, mostRecords: 9)
        #expect(finding.doubt?.contains("more than 9 records") == true)
        #expect(test.upstream.requests.count == 5)
    }
}
