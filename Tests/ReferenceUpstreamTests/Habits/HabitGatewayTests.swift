import JSONText
import ReferenceUpstream
import SocketServer
import Testing

@Suite("Habits: gateways and spells")
struct HabitGatewayTests {
    @Test("habits are set, shown and cleared")
    func admin() async throws {
        let harness = try HabitHarness("{}")
        let habits =
            #"{"lagging_lists":"5000ms","trim":true,"locked":0.5,"html_200":{"after":"0ms","lasts":"60000ms"}}"#
        #expect(try await harness.harness.send("PUT", "/__admin/habits", habits).text == habits)
        #expect(try await harness.get("/__admin/habits").text == habits)
        #expect(try await harness.harness.send("DELETE", "/__admin/habits").text == "{}")
        #expect(harness.harness.upstream.habits.isEmpty)
    }

    @Test(
        "an invalid habit is refused, and the old ones stay",
        arguments: [
            "[]", #"{"none":true}"#, #"{"trim":5}"#, #"{"locked":2}"#, #"{"later":5}"#, #"{"cut_lists":"5"}"#,
            #"{"html_200":{"after":"5s"}}"#, #"{"integer_ids":true,"slugs":true}"#,
        ])
    func refused(_ body: String) async throws {
        let harness = try HabitHarness(#"{"trim":true}"#)
        #expect(try await harness.harness.send("PUT", "/__admin/habits", body).status == 400)
        #expect(harness.harness.upstream.habits == Habits(.trim))
    }

    @Test(
        "for a while everything is answered with an error or a page, and then as before",
        arguments: [
            ("blanket_404", 404), ("blanket_403", 403), ("sign_in_page", 302), ("html_200", 200), ("html_503", 503),
        ])
    func spell(_ habit: String, _ status: Int) async throws {
        let harness = try HabitHarness(#"{"\#(habit)":{"after":"10s","lasts":"10s","every":"60s"}}"#)
        for (time, isOver) in [("00:05", true), ("00:15", false), ("00:25", true), ("01:15", false)] {
            try harness.at("2023-11-15T00:\(time)Z")
            let answer = try await harness.put(#"{"title":"at \#(time)"}"#)
            #expect(answer.status == (isOver ? 200 : status))
            #expect(try (harness.board()["title"]?.string == "at \(time)") == isOver)
        }
    }

    @Test("each list is empty once, and a token that has expired shows nothing")
    func nothing() async throws {
        let harness = try HabitHarness(#"{"empty_lists":"1m"}"#)
        #expect(try await harness.get("/boards").text == #"{"success":true,"data":[],"page":1,"per":3,"total":0}"#)
        #expect(try await harness.keys("/boards").count == 3)
        let out = try HabitHarness(#"{"signed_out":"1m"}"#)
        #expect(try await out.keys("/boards") == [])
        #expect(try await out.get("/boards/b1").status == 404)
        #expect(try await out.harness.send("DELETE", "/boards/b1").status == 404)
    }

    @Test("a locked record refuses writes for good, others take them")
    func locked() async throws {
        let harness = try HabitHarness(#"{"locked":0.5}"#)
        var statuses: [Int] = []
        for key in 1...7 { statuses.append(try await harness.put(#"{"title":"x"}"#, to: "b\(key)").status) }
        #expect(Set(statuses) == [200, 409])
        for (key, status) in statuses.enumerated() {
            #expect(try await harness.put(#"{"title":"y"}"#, to: "b\(key + 1)").status == status)
        }
    }

    @Test("a gateway repeats answers with their age, and writes without a key")
    func gateway() async throws {
        let harness = try HabitHarness(#"{"cached_answers":"30s","repeated_requests":1}"#)
        _ = try await harness.get("/boards/b1")
        _ = try await harness.put(#"{"title":"x"}"#)
        try harness.at("2023-11-15T00:00:10Z")
        let old = try await harness.get("/boards/b1")
        #expect(try old.at("data.title") == "Board 1")
        #expect(old.header("Age") == "10")
        try harness.at("2023-11-15T00:00:31Z")
        #expect(try await harness.get("/boards/b1").at("data.title") == "x")
        _ = try await harness.post(#"{"title":"new"}"#, [("Idempotency-Key", "k")])
        #expect(harness.harness.upstream.records(of: "boards").count == 8)
        _ = try await harness.post(#"{"title":"new"}"#)
        #expect(harness.harness.upstream.records(of: "boards").count == 10)
    }

    @Test("a cut answer was applied")
    func cut() async throws {
        let harness = try HabitHarness(#"{"cut_answers":1}"#)
        let answer = try await harness.put(#"{"title":"x"}"#)
        #expect(answer.response.ending != .complete)
        #expect(try harness.board()["title"] == "x")
    }

    @Test("an idempotency key is forgotten")
    func forgotten() async throws {
        let harness = try HabitHarness(#"{"forgotten_keys":"20s"}"#)
        let key = [("Idempotency-Key", "k")]
        for (time, count) in [("00", 8), ("10", 8), ("30", 9)] {
            try harness.at("2023-11-15T00:00:\(time)Z")
            _ = try await harness.post(#"{"title":"x"}"#, key)
            #expect(harness.harness.upstream.records(of: "boards").count == count)
        }
    }

    @Test("texts begin with a byte order mark, and have numbers that are none")
    func texts() async throws {
        let mark = try HabitHarness(#"{"byte_order_mark":true}"#)
        #expect(try await mark.get("/boards").body.starts(with: [0xEF, 0xBB, 0xBF]))
        let number = try HabitHarness(#"{"not_a_number":true}"#)
        #expect(try await number.get("/boards").text.contains(#""price":NaN"#))
        #expect(try await number.get("/boards?page=2").json().kind == .object)
    }

    @Test(
        "errors have the shape of a framework",
        arguments: [
            ("drf_errors", #"{"board_id":["board_id: expected an integer"]}"#),
            (
                "pocketbase_errors",
                #"{"code":422,"message":"Failed to write the record.","data":{"board_id":"#
                    + #"{"code":"validation_invalid_value","message":"board_id: expected an integer"}}}"#
            ),
            (
                "laravel_errors",
                #"{"message":"The given data was invalid.","errors":{"board_id":["board_id: expected an integer"]}}"#
            ),
        ])
    func errors(_ habit: String, _ expected: String) async throws {
        let harness = try HabitHarness(#"{"\#(habit)":true,"integer_ids":true,"strict_references":true}"#)
        #expect(try await harness.harness.send("POST", "/cards", #"{"board_id":"1001"}"#).text == expected)
    }
}
