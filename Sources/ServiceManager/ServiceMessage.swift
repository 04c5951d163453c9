/// One thing that a service manager can be told (sd_notify(3)).
package enum ServiceMessage: Sendable, Equatable {
    /// The service can be used: it has started, or has read its configuration anew.
    case ready
    /// The configuration is being read anew since that time on the kernel's monotonic clock; `ready` ends it.
    case reloading(since: Duration)
    case stopping
    /// A sign of life.
    case watchdog
    /// More time for starting, reloading or stopping, from now.
    case extendTimeout(Duration)
    /// What the service does, for people.
    case status(String)

    /// The assignments that stand for it, a line each.
    var text: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time.microseconds)"
        case .stopping: "STOPPING=1"
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(time.microseconds)"
        case .status(let text): "STATUS=\(text.map { $0.isNewline ? " " : String($0) }.joined())"
        }
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
