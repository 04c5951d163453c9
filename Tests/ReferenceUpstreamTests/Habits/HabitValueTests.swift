import JSONText
import ReferenceUpstream
import Testing

@Suite("Habits: values, keys and times")
struct HabitValueTests {
    @Test(
        "a written value gets the server's normal form",
        arguments: [
            ("trim", #"{"title":"  A b "}"#, "title", #""A b""#),
            ("lower_case", #"{"title":"A b"}"#, "title", #""a b""#),
            ("cents", #"{"price":12.345}"#, "price", "12.35"),
            ("cents", #"{"weight":2.5}"#, "weight", "2.5"),
            ("decimal_text", #"{"price":12.5}"#, "price", #""12.50""#),
            ("minutes", #"{"due":"2023-01-01T10:20:30.400Z"}"#, "due", #""2023-01-01T10:20:00Z""#),
            ("seconds", #"{"due":"2023-01-01T10:20:30.400Z"}"#, "due", #""2023-01-01T10:20:30Z""#),
            ("milliseconds", #"{"due":"2023-01-01T10:20:30Z"}"#, "due", #""2023-01-01T10:20:30.000Z""#),
            ("sorted", #"{"tags":["b","a"]}"#, "tags", #"["a","b"]"#),
            ("defaults", #"{"title":"x"}"#, "open", "false"),
            ("known_only", #"{"colour":"red"}"#, "colour", "null"),
        ])
    func normalForm(_ habit: String, _ body: String, _ field: String, _ expected: String) async throws {
        let harness = try HabitHarness(#"{"\#(habit)":true}"#)
        let answer = try await harness.put(body)
        let kept = try harness.board()[field] ?? .null
        #expect(kept.text == expected)
        #expect(try (answer.at("data")[field] ?? .null).text == expected)
        // The normal form of a normal form is itself.
        _ = try await harness.put("{\"\(field)\":\(expected)}")
        #expect(try harness.board()[field] ?? .null == kept)
    }

    @Test("a habit that changes a value counts as one that took effect, and only then")
    func effects() async throws {
        let harness = try HabitHarness(#"{"trim":true}"#)
        _ = try await harness.put(#"{"title":"x"}"#)
        #expect(harness.effect(.trim) == 0)
        _ = try await harness.put(#"{"title":" x"}"#)
        #expect(harness.effect(.trim) == 1)
        #expect(try await harness.get("/__admin/effects").text == #"{"trim":1}"#)
    }

    @Test("keys become integers, and references and new records have them too")
    func integers() async throws {
        for (habit, first) in [
            ("integer_ids", "1001"), ("large_ids", "9007199254740993"), ("huge_ids", "9223372036854775809"),
        ] {
            let harness = try HabitHarness(#"{"\#(habit)":true,"strict_references":true}"#)
            #expect(try await harness.keys("/boards?per=1") == [first])
            #expect(try await harness.get("/boards/\(first)").at("data.id").text == first)
            #expect(try await harness.get("/cards").at("data").elements.first?["board_id"]?.text == first)
            #expect(try await harness.post(#"{"id":"mine","title":"x"}"#).at("data.id").kind == .number)
            let text = #"{"board_id":"\#(first)"}"#
            #expect(try await harness.harness.send("POST", "/cards", text).status == 422)
            #expect(try await harness.harness.send("POST", "/cards", #"{"board_id":\#(first)}"#).status == 201)
        }
    }

    @Test("a lenient server makes integers of references")
    func coerced() async throws {
        let harness = try HabitHarness(#"{"integer_ids":true,"coerced_references":true}"#)
        let answer = try await harness.harness.send("POST", "/cards", #"{"board_id":"1001"}"#)
        #expect(try answer.at("data.board_id") == 1001)
        #expect(harness.effect(.coercedReferences) == 1)
    }

    @Test("a slug changes with the title, and references follow")
    func slugs() async throws {
        let harness = try HabitHarness(#"{"slugs":true}"#)
        #expect(try await harness.keys("/boards?per=1") == ["board-1-1"])
        let answer = try await harness.put(#"{"title":"New name"}"#, to: "board-1-1")
        #expect(try answer.at("data.id") == "new-name-1")
        #expect(try await harness.get("/boards/board-1-1").status == 404)
        #expect(try await harness.get("/cards").at("data").elements.first?["board_id"] == "new-name-1")
    }

    @Test("change times are equal, without fractions, or in the future")
    func times() async throws {
        let equal = try HabitHarness(#"{"equal_times":true,"whole_seconds":true}"#)
        #expect(try Set(await equal.get("/boards?per=9").column("updated_at")) == ["2023-11-15T00:00:00Z"])
        let future = try HabitHarness(#"{"future_times":"20h"}"#, boards: 30)
        let ahead = try await future.get("/boards?per=99").column("updated_at").count { $0 > "2023-11-15" }
        #expect((1...20).contains(ahead))
    }

    @Test("the same seed draws the same habits, and all are drawn by some seed")
    func drawn() throws {
        let schema = try TestSchema.boards()
        func draw(_ seed: UInt64) -> Habits {
            var random = SplitMix64(seed: seed)
            return Habits.drawn(by: &random, for: schema)
        }
        let drawn = (1...400).map(draw)
        #expect(drawn == (1...400).map(draw))
        #expect(Set(drawn.flatMap(\.names)) == Set(Habit.allCases))
        for habits in drawn { #expect(try Habits(json: habits.json) == habits) }
    }
}
