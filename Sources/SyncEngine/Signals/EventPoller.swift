internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Logging
internal import Upstream

/// Polls one list of events from where the last poll ended. The database remembers that once everything is read that the
/// events have named, so a crash before that asks for them again.
struct EventPoller: Sendable {
    let environment: SyncEnvironment
    let monitor: HealthMonitor
    let desk: SignalDesk
    let source: SignalSource
    let events: SignalEvents

    /// The most pages of one poll; the next one goes on.
    private static let mostPages = 100
    private static let longestDelay = Duration.seconds(60)
    /// The most bytes of a position: a URL must have room for it.
    private static let longestPosition = 8 << 10
    /// If an upstream no longer knows a position sooner than this after giving it, it counts as knowing none of its
    /// own.
    private static let shortestLife = Duration.seconds(3600)

    /// Where a poll ended.
    private struct Progress {
        /// Nil at the beginning of the list.
        var position: String?
        /// The events of the last page: a list that begins at a time repeats those of that time.
        var seen: Set<JSONText> = []
        /// Positions that are not stored yet, each with the number of the last signal before it.
        var unstored: [(position: String, number: Int)] = []
        /// Where nothing but events of one time were shown, and what others may be about was pulled.
        var stoodStillAt: String?
        /// When the upstream replaced the previous position with this one; nil once it has accepted this one.
        var renewedAt: Timestamp?
    }

    private var setting: String { "signals:\(source.name)" }

    /// Runs until the task is cancelled.
    func run() async {
        // Should this fail, the upstream gets a position of another kind, and the next start tries again.
        try? await adoptSince()
        var progress = Progress(position: stored())
        var failures = 0
        let turn = environment.schedule.startTurn
        if turn > .zero { _ = try? await environment.clock.sleep(for: turn) }
        while !Task.isCancelled {
            var delay = environment.schedule.pollWait(every: events.every)
            do {
                try await store(&progress)
                try await poll(&progress)
                try await store(&progress)
                if let reason = standstill(&progress) {
                    desk.noteDisconnected(source, reason)
                } else {
                    desk.noteConnected(source)
                }
                failures = 0
            } catch {
                guard !Task.isCancelled else { return }
                desk.noteDisconnected(source, (error as? UpstreamError)?.message ?? "\(error)")
                if let error = error as? UpstreamError { await startOver(&progress, after: error) }
                failures += isCounted(error) ? 1 : 0
                delay = self.delay(failures)
            }
            _ = try? await environment.clock.sleep(for: delay)
        }
    }

    /// While nothing may be called, the poll costs nothing, and is not to be late afterwards.
    private func isCounted(_ error: any Error) -> Bool {
        switch error as? UpstreamError {
        case .held, .offline: false
        default: true
        }
    }

    /// Full jitter, and never faster than usual.
    private func delay(_ failures: Int) -> Duration {
        let longest = events.every.doubled(failures - 1, atMost: max(Self.longestDelay, events.every))
        return events.every + (longest - events.every) * environment.random()
    }

    /// Begins at the start of the list if the last position was found in another way than the schema says now.
    private func adoptSince() async throws {
        let (store, name) = (environment.store, "since:\(source.name)")
        let known = try store.setting(name)
        guard known != events.definition else { return }
        if known != nil {
            try await store.setSetting(setting, to: "")
            desk.noteMissed(by: source)
        }
        try await store.setSetting(name, to: events.definition)
    }

    private func stored() -> String? {
        let text = (try? environment.store.setting(setting)) ?? nil
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads what is new. The position moves only with pages whose signals are noted.
    private func poll(_ progress: inout Progress) async throws {
        if events.since != nil, let position = progress.position, isFuture(position, by: .seconds(300)) {
            await forget(&progress, "the events were read to a time in the future, \(position)")
        }
        let upstream = monitor.guardedUpstream(for: nil, .background)
        let before = progress.position
        for _ in 1...Self.mostPages {
            let page = try await upstream.events(events.page(since: progress.position))
            guard !page.isRenewed else {
                try begin(&progress, at: page.next)
                break
            }
            progress.renewedAt = nil
            let elements = page.records.elements
            for event in elements where !progress.seen.contains(event) { desk.take(event, from: source) }
            progress.seen = Set(elements)
            let next = events.since.map { greatest($0.greatest, elements, progress.position) } ?? page.next
            guard let next, next.utf8.count <= Self.longestPosition, next != progress.position else { break }
            progress.position = next
            // A list that begins at a time has no further pages.
            guard events.since == nil, !elements.isEmpty else { break }
        }
        guard let position = progress.position, position != before else { return }
        note(position, in: &progress)
    }

    /// Why later events may not be shown; nil if nothing suggests it. If a page is cut and has only events of one time, each poll
    /// gets the same one. What the others may be about is pulled, once.
    private func standstill(_ progress: inout Progress) -> String? {
        guard let since = events.since, let position = progress.position, ListDoubt.isLimit(progress.seen.count),
            progress.seen.allSatisfy({ since.greatest.value(in: $0)?.plain == position })
        else { return nil }
        if progress.stoodStillAt != position { desk.noteMissed(by: source) }
        progress.stoodStillAt = position
        return """
            all \(progress.seen.count) events that \(events.path) shows have the same \(since.greatest.description), so it \
            may have others that it does not show; ask for more at a time with query of this source in the schema
            """
    }

    private func note(_ position: String, in progress: inout Progress) {
        // The one before is of no use if this many polls have not been read.
        if progress.unstored.count >= Self.mostUnstored { progress.unstored.removeLast() }
        progress.unstored.append((position, desk.newest))
    }

    /// Begins at the position from the upstream, which does not know the one that was sent, or was sent none. What
    /// changed before is pulled, but not each time if the upstream never knows its own positions.
    private func begin(_ progress: inout Progress, at next: String?) throws {
        guard let next, next.utf8.count <= Self.longestPosition else {
            throw UpstreamError.malformed(
                "\(events.path) sent a position of more than \(Self.longestPosition) bytes")
        }
        // After a longer time, the position may simply have expired.
        let isAgain = progress.renewedAt.map { environment.now().since($0) < Self.shortestLife } ?? false
        if progress.position != nil, !isAgain {
            environment.log.notice(
                "the upstream no longer knows where the events were read to", metadata: ["source": "\(source.name)"])
        }
        (progress.position, progress.seen) = (next, [])
        guard isAgain else {
            progress.renewedAt = environment.now()
            return desk.noteMissed(by: source)
        }
        note(next, in: &progress)
        throw UpstreamError.malformed(
            "\(events.path) does not know the position that it sent last; correct since of this source in the schema"
        )
    }

    private static let mostUnstored = 20

    /// Stores the last position up to which everything was read.
    private func store(_ progress: inout Progress) async throws {
        guard let last = progress.unstored.lastIndex(where: { desk.hasRead(through: $0.number) }) else { return }
        try await environment.store.setSetting(setting, to: progress.unstored[last].position)
        progress.unstored.removeFirst(last + 1)
    }

    private func greatest(_ member: Place, _ elements: [JSONText], _ known: String?) -> String? {
        var greatest = known.map(Mark.init)
        for value in elements.compactMap({ member.value(in: $0)?.plain })
        where value.utf8.count <= Self.longestPosition && !isFuture(value, by: .seconds(1)) {
            let mark = Mark(value)
            if greatest.map({ $0 < mark }) ?? true { greatest = mark }
        }
        return greatest?.text
    }

    /// A value that events are ordered by. Read once, as each event is compared with the greatest so far.
    private struct Mark {
        let text: String
        private let amount: ExactDecimal?

        init(_ text: String) {
            self.text = text
            amount = JSONText.string(text).amount
        }

        /// By amount if both are numbers, else as text, which orders times too.
        static func < (one: Mark, other: Mark) -> Bool {
            if let first = one.amount, let second = other.amount { return first < second }
            return one.text < other.text
        }
    }

    /// Whether the value is a time later than the server's by more than `tolerance`: from such a position, all events until
    /// then would be missed.
    private func isFuture(_ value: String, by tolerance: Duration) -> Bool {
        guard let time = Timestamp(iso8601: value), let offset = environment.clockOffset() else { return false }
        // A time that names no zone may be one of a zone ahead of UTC.
        let zone: Duration = value.hasSuffix("Z") ? .zero : .seconds(14 * 3600)
        return time > environment.now() + (offset + zone + tolerance)
    }

    /// The upstream no longer knows the position, or it can no longer be sent.
    private func startOver(_ progress: inout Progress, after error: UpstreamError) async {
        switch error {
        case .gone, .refused:
            await forget(&progress, "the upstream no longer knows where the events were read to: \(error.message)")
        default: return
        }
    }

    /// Begins again at the start of the list: everything may have changed since.
    private func forget(_ progress: inout Progress, _ reason: String) async {
        guard progress.position != nil else { return }
        environment.log.notice(
            "reading the events from the start", metadata: ["source": "\(source.name)", "reason": "\(reason)"])
        progress = Progress()
        // Should this fail, the next poll finds out again that the position is not known.
        try? await environment.store.setSetting(setting, to: "")
        desk.noteMissed(by: source)
    }
}
