/// Keeps the line that the service manager shows people up to date, and sleeps while nothing happens.
package struct StatusReporter: Sendable {
    /// Called before each look at the service: what it returns comes back once something may have changed since.
    package typealias Watch = @Sendable () -> @Sendable () async -> Void

    /// After each look; what happens meanwhile is told together.
    package static let pause = Duration.seconds(2)
    /// A line becomes another one by itself where it says of what day something was.
    package static let longest = Duration.seconds(3600)

    private let clock: any Clock<Duration>
    private let watch: Watch
    private let line: @Sendable () async -> String?
    private let tell: @Sendable (String) -> Void

    /// `line` is nil where it cannot be made right now.
    package init(
        clock: any Clock<Duration>, watch: @escaping Watch, line: @escaping @Sendable () async -> String?,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.clock = clock
        self.watch = watch
        self.line = line
        self.tell = tell
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        var told: String?
        while true {
            let change = watch()
            let line = await line()
            if let line, line != told {
                tell(line)
                told = line
            }
            try await clock.sleep(for: Self.pause)
            if line != nil { try await wait(for: change) }
        }
    }

    private func wait(for change: @escaping @Sendable () async -> Void) async throws {
        await withTaskGroup { group in
            group.addTask { await change() }
            group.addTask { _ = try? await clock.sleep(for: Self.longest) }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}
