import CacheStore
import JSONText
import Testing

@Suite("Activity over the API")
struct ActivityTests {
    @Test("minutes and hours have one list for each figure")
    func lists() async throws {
        let api = try TestAPI()
        let work = ActivityWork(
            syncs: 2, syncTime: .milliseconds(340), unreachable: .milliseconds(6100),
            requests: [.success: 5, .failure: 1])
        let minute = ActivityMinute(number: TestAPI.now.minute - 2, pending: 3, failed: 1, isStart: true, work: work)
        try await api.store.note(minute, at: TestAPI.now)
        let answer = await api.call("GET", "/v1/_activity")
        #expect(answer.status == 200)
        let minutes = try #require(answer.json["minutes"])
        #expect(minutes["start"]?.string == "2026-11-21T04:42:00.000Z")
        #expect(minutes["step_s"]?.integer == 60)
        #expect(minutes["pending"]?.elements.count == 360)
        #expect(minutes["pending"]?.elements.suffix(3).map(\.text) == ["null", "3", "3"])
        #expect(minutes["failed"]?.elements.suffix(2).map(\.text) == ["1", "1"])
        #expect(minutes["syncs"]?.elements.suffix(2).map(\.text) == ["2", "0"])
        #expect(minutes["sync_ms"]?.elements.suffix(2).map(\.text) == ["340", "0"])
        #expect(minutes["unreachable_s"]?.elements.suffix(2).map(\.text) == ["7", "0"])
        let requests = try #require(minutes["requests"])
        #expect(requests.members.map(\.key) == ["2xx", "3xx", "4xx", "5xx", "unreachable"])
        #expect(requests["5xx"]?.elements.suffix(2).map(\.text) == ["1", "0"])
        let hours = try #require(answer.json["hours"])
        #expect(hours["step_s"]?.integer == 3600)
        #expect(hours["pending"]?.elements.count == 168)
        #expect(hours["syncs"]?.elements.last?.text == "2")
    }

    @Test("it takes no parameters and no other method")
    func shape() async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/v1/_activity?limit=1").status == 400)
        #expect(await api.call("POST", "/v1/_activity", body: "{}").status == 405)
    }
}
