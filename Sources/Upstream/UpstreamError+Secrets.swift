extension UpstreamError {
    /// The same error with `…` for every secret that its text repeats, whole or cut off: upstreams quote what they
    /// refuse, and an error is stored, shown and logged.
    ///
    /// Every request passes its errors through here before it throws them.
    package func withoutSecrets(_ secrets: [String]) -> UpstreamError {
        let secrets = Set(secrets.filter { !$0.isEmpty }.flatMap(SecretSpelling.all))
        let cut = secrets.compactMap { Self.beginning(of: $0, whereCut: message) }
        let quotes = secrets.filter(message.contains) + cut
        guard !quotes.isEmpty else { return self }
        // The longest first: one may be part of another.
        let text = quotes.sorted { $0.utf8.count > $1.utf8.count }.reduce(message) { $0.replacing($1, with: "…") }
        return switch self {
        case .offline: .offline(text)
        case .unclear(let status, _): .unclear(status: status, text)
        case .throttled(let delay, _): .throttled(delay, text)
        case .unauthorized: .unauthorized(text)
        case .barred(let status, _): .barred(status: status, text)
        case .changed(let status, _): .changed(status: status, text)
        case .gone(let status, _): .gone(status: status, text)
        case .refused(let status, _): .refused(status: status, text)
        case .malformed: .malformed(text)
        case .held: .held(text)
        case .cancelled: .cancelled
        }
    }

    /// The part of a secret before the `…` of a text that was cut off, with the `…`; nil when it is too short to reveal
    /// anything.
    private static func beginning(of secret: String, whereCut text: String) -> String? {
        stride(from: secret.count - 1, through: leastRevealing, by: -1).lazy
            .map { secret.prefix($0) + "…" }.first(where: text.contains)
    }

    private static let leastRevealing = 3
}
