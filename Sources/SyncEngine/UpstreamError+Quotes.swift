internal import Upstream

extension UpstreamError {
    /// The same with `…` wherever its text repeats one of these: upstreams quote what they refuse, and an error is stored,
    /// shown and logged.
    func withoutQuotes(of secrets: [String]) -> UpstreamError {
        guard secrets.contains(where: message.contains) else { return self }
        // The longest first: one may be part of another.
        let text = secrets.sorted { $0.utf8.count > $1.utf8.count }.reduce(message) { $0.replacing($1, with: "…") }
        return switch self {
        case .offline: .offline(text)
        case .unclear(let status, _): .unclear(status: status, text)
        case .throttled(let delay, _): .throttled(delay, text)
        case .unauthorized: .unauthorized(text)
        case .changed(let status, _): .changed(status: status, text)
        case .gone(let status, _): .gone(status: status, text)
        case .refused(let status, _): .refused(status: status, text)
        case .malformed: .malformed(text)
        case .held: .held(text)
        case .cancelled: .cancelled
        }
    }
}
