package import EntitySchema

/// The clocks that the engine uses.
package struct SyncTime: Sendable {
    /// Measures waits.
    var clock: any Clock<Duration>
    /// The time of day.
    var now: @Sendable () -> Timestamp
    /// How far the server's clock is ahead of `now`; nil while unknown. The server's clock decides which write is last.
    var serverOffset: @Sendable () -> Duration?

    package init(
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp,
        serverOffset: @escaping @Sendable () -> Duration? = { nil }
    ) {
        self.clock = clock
        self.now = now
        self.serverOffset = serverOffset
    }
}

/// What the engine reports to the program around it, and asks of it.
package struct SyncCallbacks: Sendable {
    /// A piece of work is complete.
    var measure: @Sendable (SyncMeasurement) -> Void
    /// The status may have changed.
    var changed: @Sendable () -> Void
    /// Whether changes may be sent. While this is false, changes wait, but pulls go on; call
    /// `SyncEngine.noteLocalWrite` when it turns true.
    var mayPush: @Sendable () -> Bool
    /// Whether syncing is paused, at the start too: engines that run one after the other share it.
    var pause: Published<Bool>

    package init(
        measure: @escaping @Sendable (SyncMeasurement) -> Void = { _ in },
        changed: @escaping @Sendable () -> Void = {}, mayPush: @escaping @Sendable () -> Bool = { true },
        pause: Published<Bool> = Published(false)
    ) {
        self.measure = measure
        self.changed = changed
        self.mayPush = mayPush
        self.pause = pause
    }
}
