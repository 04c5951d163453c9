/// Sends watchdog signals to the service manager while every part of the service is working (sd_watchdog_enabled(3)).
///
/// While a part is stuck nothing is sent, and the manager eventually restarts the service. A part that was only slow
/// answers late, and the signal follows immediately.
package struct Watchdog: Sendable {
    /// A component that the service cannot work without.
    package struct Part: Sendable {
        package var name: String
        /// Returns true once the part has made progress since the call, false when it has made none for too long. A
        /// stuck part may never return.
        package var isMoving: @Sendable () async -> Bool

        package init(_ name: String, isMoving: @escaping @Sendable () async -> Bool) {
            self.name = name
            self.isMoving = isMoving
        }
    }

    private let parts: [Part]
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let ping: @Sendable () -> Void
    private let report: @Sendable (_ stuck: [String]) -> Void

    /// `report` is called with the stuck parts, once per incident.
    package init(
        parts: [Part], interval: Duration, clock: any Clock<Duration>, ping: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (_ stuck: [String]) -> Void
    ) {
        self.parts = parts
        self.interval = interval
        self.clock = clock
        self.ping = ping
        self.report = report
    }

    /// Half of the service manager's watchdog timeout; nil when it expects no signals from this process.
    package static func interval(environment: [String: String], pid: Int32) -> Duration? {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else {
            return nil
        }
        if let named = environment["WATCHDOG_PID"], Int32(named) != pid { return nil }
        return .microseconds(microseconds) / 2
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        var isStuck = false
        while true {
            let stuck = try await stuckParts(isKnown: isStuck)
            if stuck.isEmpty { ping() } else if !isStuck { report(stuck) }
            isStuck = !stuck.isEmpty
            // A stuck part is checked again soon: the manager is waiting.
            try await clock.sleep(for: isStuck ? interval / 10 : interval)
        }
    }

    /// Asks every part and waits for all answers. Reports parts that take longer than the interval.
    private func stuckParts(isKnown: Bool) async throws -> [String] {
        try await withThrowingTaskGroup(of: (part: Part, isMoving: Bool)?.self) { group in
            for part in parts { group.addTask { (part, await part.isMoving()) } }
            group.addTask {
                try await clock.sleep(for: interval)
                return nil
            }
            defer { group.cancelAll() }
            var waiting = parts.map(\.name)
            var stuck: [String] = []
            while !waiting.isEmpty {
                guard let answer = try await group.next() else { break }
                guard let answer else {
                    if !isKnown { report(waiting) }
                    continue
                }
                waiting.removeAll { $0 == answer.part.name }
                if !answer.isMoving { stuck.append(answer.part.name) }
            }
            try Task.checkCancellation()
            return stuck
        }
    }
}
