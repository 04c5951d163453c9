package import EntitySchema

/// How one source of signals is doing.
package struct SignalStatus: Sendable, Equatable {
    /// `sse`, `events` or `webhook`.
    package var kind: String
    package var path: String
    /// Whether the stream is open, or the last poll succeeded; nil for calls to this machine.
    package var isConnected: Bool?
    package var lastSignalAt: Timestamp?
    /// Why it is not connected.
    package var error: String?
}
