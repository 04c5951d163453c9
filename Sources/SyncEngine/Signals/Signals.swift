internal import EntitySchema
internal import JSONText
internal import Upstream

/// Everything that has to do with signals: the sources, and the reads that they cause.
struct Signals: Sendable {
    private let environment: SyncEnvironment
    private let monitor: HealthMonitor
    private let loop: SignalLoop
    private let desk: SignalDesk

    init(_ environment: SyncEnvironment, monitor: HealthMonitor, account: AccountCheck, pull: PullLoop) {
        self.environment = environment
        self.monitor = monitor
        desk = SignalDesk(environment)
        loop = SignalLoop(
            environment: environment, monitor: monitor, pull: pull,
            refresher: RecordRefresher(environment, monitor: monitor, account: account, urgency: .background),
            desk: desk)
    }

    var status: [SignalStatus] { desk.status }

    /// Runs until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await loop.run() }
            for source in environment.schema.upstream.signals {
                switch source.kind {
                case .stream(let stream):
                    let follower = StreamFollower(
                        environment: environment, monitor: monitor, desk: desk, source: source, stream: stream)
                    group.addTask { await follower.run() }
                case .events(let events):
                    let poller = EventPoller(
                        environment: environment, monitor: monitor, desk: desk, source: source, events: events)
                    group.addTask { await poller.run() }
                case .webhook: break
                }
            }
        }
    }

    func take(_ message: JSONText, from source: SignalSource) { desk.take(message, from: source) }

    func refuse(_ source: SignalSource) { environment.measure(.signal(source: source.name, .refused)) }
}
