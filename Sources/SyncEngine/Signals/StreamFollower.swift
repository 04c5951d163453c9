internal import EntitySchema
internal import Synchronization
internal import Upstream

/// Follows one event stream, and opens it again whenever it ends.
struct StreamFollower: Sendable {
    let environment: SyncEnvironment
    let monitor: HealthMonitor
    let desk: SignalDesk
    let source: SignalSource
    let stream: SignalStream
    private let memory = StreamMemory()

    private static let longestDelay = Duration.seconds(60)
    /// How often a follower looks whether requests may be made again.
    private static let holdCheck = Duration.seconds(5)
    /// A stream that lasted this long was no failed attempt.
    private static let goodLife = Duration.seconds(30)
    /// Silence is measured in whole seconds, from a little before the stream counts as open.
    private static let idleTolerance = Duration.seconds(1)

    /// Runs until the task is cancelled.
    func run() async {
        var attempts = 0
        let turn = environment.schedule.startTurn
        if turn > .zero { await sleep(for: turn) }
        while !Task.isCancelled {
            memory.setOpened(nil)
            let result = await follow()
            guard !Task.isCancelled else { return }
            let lasted = memory.openedAt.map { environment.monotonicNow().since($0) }
            if let lasted, lasted >= Self.goodLife { attempts = 0 }
            let wasQuiet = wasQuiet(result, lasted)
            switch result {
            case .failure(let error) where !wasQuiet:
                desk.noteDisconnected(source, error.message)
                forgetPlace(after: error)
            default: desk.noteDisconnected(source, nil)
            }
            switch result {
            case _ where wasQuiet: attempts = 0
            case .success(.tokenChanged): break
            case .failure(.held): await sleep(for: Self.holdCheck)
            default:
                attempts += 1
                await sleep(for: delay(attempts))
            }
        }
    }

    /// The upstream may refuse the id of the last event, or answer it with more events than are taken. What is missed then is
    /// pulled once the stream is open.
    private func forgetPlace(after error: UpstreamError) {
        switch error {
        case .refused, .gone, .changed, .malformed: memory.setLastEvent("")
        default: break
        }
    }

    /// Whether the stream was given up because nothing came for as long as `idle` allows: then it is no failed attempt.
    private func wasQuiet(_ result: Result<StreamEnd, UpstreamError>, _ lasted: Duration?) -> Bool {
        guard let lasted, case .failure(.unclear(nil, _)) = result else { return false }
        return lasted >= stream.idle - Self.idleTolerance
    }

    /// Full jitter, so that many machines do not reconnect at once.
    private func delay(_ attempts: Int) -> Duration {
        let longest = max(memory.retry, .milliseconds(100)).doubled(attempts - 1, atMost: Self.longestDelay)
        return max(longest * environment.random(), .milliseconds(50))
    }

    private func sleep(for duration: Duration) async { _ = try? await environment.clock.sleep(for: duration) }

    private func follow() async -> Result<StreamEnd, UpstreamError> {
        let upstream = monitor.guardedUpstream(for: nil, .background)
        do throws(UpstreamError) {
            return .success(
                try await upstream.follow(stream, after: memory.lastEvent, clock: environment.clock) { news in
                    self.take(news)
                })
        } catch {
            return .failure(error)
        }
    }

    private func take(_ news: StreamNews) {
        switch news {
        case .opened:
            memory.setOpened(environment.monotonicNow())
            desk.noteConnected(source)
            desk.noteMissed(by: source)
        case .retry(let delay): memory.setRetry(delay)
        case .event(let event):
            desk.take(event.data, event: event.name, from: source)
            memory.setLastEvent(event.id)
        }
    }
}

/// What a stream said, for the next connection.
private final class StreamMemory: Sendable {
    private struct State {
        var lastEvent = ""
        var retry = Duration.seconds(1)
        var openedAt: Timestamp?
    }

    private let state = Mutex(State())

    var lastEvent: String { state.withLock { $0.lastEvent } }
    var retry: Duration { state.withLock { $0.retry } }
    /// When events began to arrive; nil before.
    var openedAt: Timestamp? { state.withLock { $0.openedAt } }

    func setLastEvent(_ id: String) { state.withLock { $0.lastEvent = id } }
    func setRetry(_ delay: Duration) { state.withLock { $0.retry = delay } }
    func setOpened(_ time: Timestamp?) { state.withLock { $0.openedAt = time } }
}
