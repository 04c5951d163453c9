package import EntitySchema

/// The clocks that the engine goes by.
package struct SyncTime: Sendable {
    /// Measures waits.
    var clock: any Clock<Duration>
    /// The time of day.
    var now: @Sendable () -> Timestamp
    /// How far the server's clock is ahead of `now`, nil while unknown: the last write wins by the server's clock.
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

/// What the engine tells the program around it, and asks it.
package struct SyncCallbacks: Sendable {
    /// A piece of work is complete.
    var measure: @Sendable (SyncMeasurement) -> Void
    /// The status may have changed.
    var changed: @Sendable () -> Void
    /// Whether changes may be sent. While it is false they wait, and everything is read; call
    /// `SyncEngine.noteLocalWrite` when it turns true.
    var mayPush: @Sendable () -> Bool

    package init(
        measure: @escaping @Sendable (SyncMeasurement) -> Void = { _ in },
        changed: @escaping @Sendable () -> Void = {}, mayPush: @escaping @Sendable () -> Bool = { true }
    ) {
        self.measure = measure
        self.changed = changed
        self.mayPush = mayPush
    }
}
