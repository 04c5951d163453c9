import EntitySchema
import TestSupport
import Testing

@testable import CacheStore

@Suite("History of the activity")
struct ActivityHistoryTests {
    private let cache: TestCache
    /// 10:42; the minute before it is the last one that is over.
    private let now = TestCache.now
    private var last: Int64 { now.minute - 1 }

    init() throws { cache = try TestCache() }

    private func note(_ minutes: ActivityMinute...) async throws {
        for minute in minutes { try await cache.store.note(minute, at: now) }
    }

    /// The last steps of the minutes.
    private func minutes(_ count: Int) throws -> [ActivitySteps.Step?] {
        try cache.store.activity(at: now).minutes.steps.suffix(count)
    }

    private func pending(_ count: Int) throws -> [Int?] { try minutes(count).map { $0?.pending } }

    @Test("nothing is known before the first minute")
    func empty() throws {
        let (minutes, hours) = try cache.store.activity(at: now)
        #expect(minutes.steps.count == 360)
        #expect(minutes.steps.allSatisfy { $0 == nil })
        #expect(minutes.start.description == "2026-11-21T04:42:00.000Z")
        #expect(hours.steps.count == 168)
        #expect(hours.steps.allSatisfy { $0 == nil })
        #expect(hours.start.description == "2026-11-14T11:00:00.000Z")
    }

    @Test("a minute keeps its counts")
    func counts() async throws {
        let work = ActivityWork(
            syncs: 2, syncTime: .milliseconds(340), unreachable: .seconds(7),
            requests: [.success: 5, .redirect: 1, .refusal: 2, .failure: 3, .unreachable: 4])
        try await note(ActivityMinute(number: last, pending: 3, failed: 1, work: work))
        #expect(try minutes(1) == [ActivitySteps.Step(pending: 3, failed: 1, work: work)])
    }

    @Test("a minute without a row was as the one before at its end, and nothing happened in it")
    func carried() async throws {
        let work = ActivityWork(syncs: 1, requests: [.success: 9])
        try await note(
            ActivityMinute(number: last - 4, pending: 5, failed: 2, work: work),
            ActivityMinute(number: last - 1, pending: 1, failed: 0))
        #expect(try pending(6) == [nil, 5, 5, 5, 1, 1])
        #expect(try minutes(4).first == ActivitySteps.Step(pending: 5, failed: 2))
    }

    @Test("nothing is known of the time in which no daemon ran")
    func gap() async throws {
        try await note(
            ActivityMinute(number: last - 4, pending: 5), ActivityMinute(number: last - 1, pending: 4, isStart: true))
        #expect(try pending(5) == [5, nil, nil, 4, 4])
    }

    @Test("what was before the first step does not count in it")
    func earlier() async throws {
        try await note(
            ActivityMinute(number: last - 500, pending: 9), ActivityMinute(number: last - 450, pending: 1),
            ActivityMinute(number: last - 10, pending: 2))
        #expect(try pending(360).prefix(2) == [1, 1])
    }

    @Test("a service that takes over within a minute adds to it, and leaves no gap")
    func takeover() async throws {
        try await note(
            ActivityMinute(number: last - 3, pending: 2),
            ActivityMinute(number: last - 1, pending: 2, work: ActivityWork(syncs: 1, requests: [.success: 3])),
            ActivityMinute(
                number: last - 1, pending: 1, isStart: true,
                work: ActivityWork(syncs: 2, syncTime: .seconds(1), requests: [.success: 1, .failure: 1])))
        let work = ActivityWork(syncs: 3, syncTime: .seconds(1), requests: [.success: 4, .failure: 1])
        #expect(try pending(4) == [2, 2, 1, 1])
        #expect(try minutes(2).first == ActivitySteps.Step(pending: 1, failed: 0, work: work))
    }

    @Test("an hour has the longest queue of its minutes and the sum of their counts")
    func hours() async throws {
        let one = ActivityWork(syncs: 1, syncTime: .seconds(2), unreachable: .seconds(60), requests: [.refusal: 1])
        try await note(
            // 8:50, 9:10, 9:20 and 10:20.
            ActivityMinute(number: now.minute - 112, pending: 7), ActivityMinute(number: now.minute - 92, work: one),
            ActivityMinute(number: now.minute - 82, pending: 3, work: one),
            ActivityMinute(number: now.minute - 22, failed: 2))
        var sum = one
        sum += one
        let steps = try cache.store.activity(at: now).hours.steps
        #expect(
            steps.suffix(4) == [
                nil, .init(pending: 7, failed: 0), .init(pending: 7, failed: 0, work: sum),
                .init(pending: 3, failed: 2),
            ])
    }

    @Test("minutes older than a week are forgotten, and those of a clock that was wrong")
    func bounded() async throws {
        try await note(
            ActivityMinute(number: last - 169 * 60), ActivityMinute(number: last + 999),
            ActivityMinute(number: last - 167 * 60, pending: 2))
        #expect(try cache.store.read { db in try ActivityTable(db: db).minutes().map(\.number) } == [last - 167 * 60])
    }

    @Test("the history survives a restart")
    func kept() async throws {
        try await note(ActivityMinute(number: last, pending: 3))
        try cache.store.close()
        let store = try TestCache(in: cache.folder).store
        #expect(try store.activity(at: now).minutes.steps.last??.pending == 3)
    }
}
