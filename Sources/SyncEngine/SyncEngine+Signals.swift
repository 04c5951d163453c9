package import EntitySchema
package import JSONText

extension SyncEngine {
    /// A message of the upstream that came to this machine, whose signature was checked. Returns at once.
    package nonisolated func take(_ message: JSONText, from source: SignalSource) {
        signals.take(message, from: source)
    }

    /// A call without a valid signature came. It has no effect but being counted.
    package nonisolated func refuseSignal(from source: SignalSource) { signals.refuse(source) }
}
