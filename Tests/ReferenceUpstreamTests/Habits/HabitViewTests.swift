import JSONText
import ReferenceUpstream
import Testing

@Suite("Habits: lists, records and answers")
struct HabitViewTests {
    @Test("lists, records and answers are behind by their own times")
    func lag() async throws {
        let harness = try HabitHarness(#"{"lagging_lists":"10s","lagging_records":"5s","lagging_answers":"2s"}"#)
        #expect(try await harness.put(#"{"title":"One"}"#).at("data.title") == "Board 1")
        try harness.at("2023-11-15T00:00:03Z")
        #expect(try await harness.put(#"{"note":"n"}"#).at("data.title") == "One")
        #expect(try await harness.get("/boards/b1").at("data.title") == "Board 1")
        try harness.at("2023-11-15T00:00:05Z")
        #expect(try await harness.get("/boards/b1").at("data.title") == "One")
        #expect(try await harness.get("/boards").column("title").first == "Board 1")
        try harness.at("2023-11-15T00:00:10Z")
        #expect(try await harness.get("/boards").column("title").first == "One")
        for habit in [Habit.laggingLists, .laggingRecords, .laggingAnswers] { #expect(harness.effect(habit) > 0) }
    }

    @Test("a tombstone comes later")
    func tombstones() async throws {
        let harness = try HabitHarness(#"{"lagging_tombstones":"10s"}"#)
        _ = try await harness.harness.send("DELETE", "/boards/b1")
        #expect(try await !harness.keys("/boards?since=2023-11-14T12:00:00Z&per=9").contains("b1"))
        #expect(harness.effect(.laggingTombstones) == 1)
        try harness.at("2023-11-15T00:00:11Z")
        #expect(try await harness.keys("/boards?since=2023-11-14T12:00:00Z&per=9").contains("b1"))
    }

    @Test(
        "answers to writes have the shape that is set",
        arguments: [
            ("partial_answers", #"{"success":true,"data":{"id":"b1","note":"n"}}"#),
            ("id_answers", #"{"success":true,"data":{"id":"b1"}}"#), ("success_answers", #"{"success":true}"#),
            ("empty_answers", ""),
        ])
    func shapes(_ habit: String, _ expected: String) async throws {
        let harness = try HabitHarness(#"{"\#(habit)":true}"#)
        #expect(try await harness.put(#"{"note":"n"}"#).text == expected)
        #expect(try harness.board()["note"] == "n")
    }

    @Test("a creation is answered with its place only, a single record stands alone")
    func places() async throws {
        let harness = try HabitHarness(#"{"location_answers":true,"bare_records":true}"#)
        let answer = try await harness.post(#"{"id":"b8","title":"x"}"#)
        #expect(answer.status == 201 && answer.body.isEmpty && answer.header("Location") == "/boards/b8")
        #expect(try await harness.get("/boards/b8").at("title") == "x")
        #expect(try await harness.put(#"{"note":"n"}"#).at("note") == "n")
    }

    @Test("202 is answered at once, the write is applied later, and a repeat under its key is applied once")
    func later() async throws {
        let harness = try HabitHarness(#"{"later":"5s"}"#)
        let key = [("Idempotency-Key", "k")]
        for _ in 1...2 { #expect(try await harness.post(#"{"title":"x"}"#, key).status == 202) }
        #expect(harness.harness.upstream.records(of: "boards").count == 7)
        try harness.at("2023-11-15T00:00:06Z")
        #expect(harness.harness.upstream.records(of: "boards").count == 8)
        #expect(try await harness.put(#"{"title":"x"}"#, to: "none").status == 404)
    }

    @Test("lists lack members, and have others in another place than records")
    func members() async throws {
        let harness = try HabitHarness(#"{"omitted_members":["price"],"members_elsewhere":true}"#)
        let row = try #require(try await harness.get("/boards").at("data").elements.first)
        #expect(row["price"] == nil && row["total"] == 1 && row["totals"] == nil)
        let record = try await harness.get("/boards/b1").at("data")
        #expect(record["price"] != nil && record["total"] == nil && record.at(path: "totals.total") == 1)
    }

    @Test("an upstream without single reads refuses them")
    func listsOnly() async throws {
        #expect(try await HabitHarness(#"{"lists_only":404}"#).get("/boards/b1").status == 404)
        #expect(try await HabitHarness(#"{"lists_only":405}"#).get("/boards/b1").status == 405)
    }

    @Test("a total is wrong, one row comes twice, and a list ends early")
    func lists() async throws {
        #expect(try await HabitHarness(#"{"wrong_totals":3}"#).get("/boards").at("total") == 10)
        let twice = try HabitHarness(#"{"listed_twice":true}"#)
        #expect(try await twice.get("/boards").at("total") == 8)
        var keys: [String] = []
        for page in 1...3 { keys += try await twice.keys("/boards?page=\(page)") }
        #expect(keys == ["b1", "b1", "b2", "b3", "b4", "b5", "b6", "b7"])
        let cut = try HabitHarness(#"{"cut_lists":5}"#)
        #expect(try await cut.get("/boards").at("total") == 5)
        #expect(try await cut.keys("/boards?page=2") == ["b4", "b5"])
        #expect(try await cut.keys("/boards?page=3") == [])
        let slides = try HabitHarness(#"{"sliding_rows":1}"#)
        #expect(try await slides.keys("/boards") == ["b1", "b2", "b3"])
        #expect(try await ["b3", "b5"].contains(slides.keys("/boards?page=2").first))
    }

    @Test("PUT erases what it does not send")
    func replacing() async throws {
        let harness = try HabitHarness(#"{"replacing_put":true}"#)
        _ = try await harness.put(#"{"title":"x"}"#)
        #expect(try harness.board()["price"] == .null)
    }
}
