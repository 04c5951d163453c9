import RepairminderClient
import Testing

/// The stream of changes over cuts, restarts and another cache.
@Suite("Change stream of the client")
struct ChangeStreamTests {
    private static let end = Script.Line.json(#"{"epoch":"e1","data":[],"next":10}"#)

    private static func event(_ sequence: Int, _ epoch: String = "e1") -> [UInt8] {
        Array(
            """
            id: \(epoch)-\(sequence)
            event: upserted
            data: {"seq":\(sequence),"kind":"upserted","entity":"orders","id":"o\(sequence)","fields":null}


            """.utf8)
    }

    private static func stream(_ pieces: [UInt8]...) -> Script.Line { .answer(200, [], pieces) }

    @Test("a cut stream continues after the last change that it gave")
    func resumes() async throws {
        let broken = Self.event(12)
        let script = Script(
            Self.end, .cut([Array("retry: 3000\n\n".utf8), Self.event(11) + broken.prefix(20)]),
            .failure(.unreachable("refused")), .problem(503, "unavailable"),
            Self.stream(Array(Self.event(12)[..<7]), Array(Self.event(12)[7...]) + Self.event(13)))
        var changes = script.client.changes.follow().makeAsyncIterator()
        for sequence in 11...13 {
            #expect(try await changes.next()?.change?.recordID == "o\(sequence)")
        }
        #expect(changes.position?.text == "e1-13")
        let requests = await script.requests
        #expect(requests.map { $0.headers["Last-Event-ID"] } == [nil, "e1-10", "e1-11", "e1-11", "e1-11"])
    }

    @Test("what a filter left out is not read again")
    func skipsFiltered() async throws {
        let script = Script(
            Self.stream(Array(": \nid: e1-40\n\n".utf8)), Self.stream(Self.event(41)))
        let start = try #require(ChangePosition(text: "e1-10"))
        let filter = ChangeFilter(entities: ["orders"], kinds: [.upserted, .deleted])
        var changes = script.client.changes.follow(from: start, filter: filter).makeAsyncIterator()
        #expect(try await changes.next()?.change?.sequence == 41)
        let requests = await script.requests
        #expect(requests.map { $0.headers["Last-Event-ID"] } == ["e1-10", "e1-40"])
        #expect(requests.first?.target == "/v1/events?entity=orders&kind=upserted%2Cdeleted")
    }

    @Test("when changes are missing, the stream says so and goes on from the present")
    func resyncs() async throws {
        let script = Script(
            Self.stream(Self.event(11)), .problem(410, "gone"), .json(#"{"epoch":"e2","data":[],"next":3}"#),
            Self.stream(Self.event(4, "e2")))
        let start = try #require(ChangePosition(text: "e1-10"))
        var events = script.client.changes.follow(from: start).makeAsyncIterator()
        #expect(try await events.next()?.change?.sequence == 11)
        #expect(try await events.next() == .resync(ChangePosition(epoch: "e2", sequence: 3)))
        #expect(try await events.next()?.change?.position.text == "e2-4")
        #expect(await script.requests.last?.headers["Last-Event-ID"] == "e2-3")
    }

    @Test("a daemon that does not answer at first, or refuses the call, ends the stream")
    func refuses() async throws {
        let down = Script.Line.failure(.unreachable("refused"))
        var changes = Script(down, down, down, down).client.changes.follow().makeAsyncIterator()
        await #expect(throws: ClientError.unreachable("refused")) { try await changes.next() }
        var later = Script(Self.end, Self.stream(Self.event(11)), .problem(401, "token_required"))
            .client.changes.follow().makeAsyncIterator()
        #expect(try await later.next() != nil)
        await #expect(throws: ClientError.self) { try await later.next() }
    }

    @Test("a resync is not lost when the daemon goes down in between")
    func resyncsLater() async throws {
        let down = Script.Line.failure(.interrupted("cut"))
        let script = Script(
            Self.stream(Self.event(11)), .problem(410, "gone"), down, down, down, down, down,
            .json(#"{"epoch":"e2","data":[],"next":3}"#))
        let start = try #require(ChangePosition(text: "e1-10"))
        var events = script.client.changes.follow(from: start).makeAsyncIterator()
        #expect(try await events.next()?.change != nil)
        #expect(try await events.next() == .resync(ChangePosition(epoch: "e2", sequence: 3)))
    }

    @Test("the oldest place has a number alone, and a stored place is read again")
    func positions() async throws {
        let script = Script(Self.stream(Self.event(1)))
        var changes = script.client.changes.follow(from: .oldest).makeAsyncIterator()
        _ = try await changes.next()
        #expect(await script.requests.first?.target == "/v1/events?since=0")
        #expect(ChangePosition(text: "a-b-7") == ChangePosition(epoch: "a-b", sequence: 7))
        #expect(ChangePosition(text: "7")?.epoch == nil)
        #expect(ChangePosition(text: "e1-") == nil)
    }
}
