/// A message to the service manager (sd_notify(3)).
package enum ServiceMessage: Sendable, Equatable {
    /// The service is ready, after its start or after a reload.
    case ready
    /// A reload began at this time of the kernel's monotonic clock; `ready` ends it.
    case reloading(since: Duration)
    case stopping
    /// The watchdog signal.
    case watchdog
    /// Extends the timeout for starting, reloading or stopping, counted from now.
    case extendTimeout(Duration)
    /// A status line for people. The manager prints it as it is, and a terminal would obey what is in it: control characters
    /// and what turns the direction of reading are replaced.
    case status(String)

    /// The message in the protocol's format, one assignment per line.
    var text: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time.microseconds)"
        case .stopping: "STOPPING=1"
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(time.microseconds)"
        case .status(let text): "STATUS=\(text.map { $0.isNewline ? " " : Self.shown($0) }.joined())"
        }
    }

    private static func shown(_ character: Character) -> String {
        character.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
            default: String(scalar)
            }
        }.joined()
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
