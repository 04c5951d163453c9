/// Keeps the service manager's status line up to date, and sleeps while nothing changes.
package struct StatusReporter: Sendable {
    /// Called before each update; returns a function that waits until something may have changed since.
    package typealias Watch = @Sendable () -> @Sendable () async -> Void

    /// The pause after each update; changes in between are sent together.
    package static let pause = Duration.seconds(2)
    /// The longest wait: a line with a date changes by itself at midnight.
    package static let longestWait = Duration.seconds(3600)

    private let clock: any Clock<Duration>
    private let watch: Watch
    private let line: @Sendable () async -> String?
    private let send: @Sendable (String) -> Void

    /// `line` returns nil when the status cannot be read at the moment.
    package init(
        clock: any Clock<Duration>, watch: @escaping Watch, line: @escaping @Sendable () async -> String?,
        send: @escaping @Sendable (String) -> Void
    ) {
        self.clock = clock
        self.watch = watch
        self.line = line
        self.send = send
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        var sent: String?
        while true {
            let change = watch()
            let line = await line()
            if let line, line != sent {
                send(line)
                sent = line
            }
            try await clock.sleep(for: Self.pause)
            if line != nil { try await wait(for: change) }
        }
    }

    private func wait(for change: @escaping @Sendable () async -> Void) async throws {
        await withTaskGroup { group in
            group.addTask { await change() }
            group.addTask { _ = try? await clock.sleep(for: Self.longestWait) }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}
