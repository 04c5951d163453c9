import JSONText
import ReferenceUpstream
import TestSupport
import Testing

/// Boards b1 to b7 and the card c1 of b1, on an upstream with habits.
struct HabitHarness {
    let harness: Harness

    init(_ habits: String, paging: String = "page_size: 3, total: total", boards: Int = 7) throws {
        var records: [String] = []
        for number in 1...boards {
            records.append(
                #"{"id":"b\#(number)","title":"Board \#(number)","price":\#(number).5,"#
                    + #""totals":{"total":\#(number)},"updated_at":"2023-11-14T00:00:0\#(number % 10).500Z"}"#)
        }
        harness = try Harness(
            TestSchema.boards(paging: paging),
            ["boards": records, "cards": [#"{"id":"c1","board_id":"b1","text":"Card"}"#]])
        try at("2023-11-15T00:00:00Z")
        try set(habits)
    }

    func set(_ habits: String) throws { harness.upstream.habits = try Habits(json: JSONText(parsing: habits)) }

    func at(_ time: String) throws { try harness.at(time) }

    func get(_ target: String) async throws -> Reply { try await harness.get(target) }

    func put(_ body: String, to key: String = "b1", _ headers: [(String, String)] = []) async throws -> Reply {
        try await harness.send("PUT", "/boards/\(key)", body, headers: headers)
    }

    func post(_ body: String, _ headers: [(String, String)] = []) async throws -> Reply {
        try await harness.send("POST", "/boards", body, headers: headers)
    }

    /// The keys of the rows of one page.
    func keys(_ target: String) async throws -> [String] { try await get(target).column("id") }

    func board(_ key: String = "b1") throws -> JSONText { try #require(harness.upstream.record("boards", key)) }

    func effect(_ habit: Habit) -> Int { harness.upstream.effects[habit] ?? 0 }
}
