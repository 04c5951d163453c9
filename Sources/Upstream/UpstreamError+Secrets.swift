extension UpstreamError {
    /// The same error with `…` for every secret that its text repeats, whole or cut off: upstreams quote what they
    /// refuse, and an error is stored, shown and logged. `SecretForm` says which ways to write a secret are found.
    ///
    /// Every request passes its errors through here before it throws them.
    package func withoutSecrets(_ secrets: [String]) -> UpstreamError {
        let text = SecretScrubber(secrets).scrubbed(message)
        guard text != message else { return self }
        return switch self {
        case .offline: .offline(text)
        case .unclear(let status, _): .unclear(status: status, text)
        case .locked(let status, _): .locked(status: status, text)
        case .throttled(let delay, _): .throttled(delay, text)
        case .unauthorized: .unauthorized(text)
        case .barred(let status, _, let isPage): .barred(status: status, text, isPage: isPage)
        case .changed(let status, _): .changed(status: status, text)
        case .gone(let status, _): .gone(status: status, text)
        case .refused(let status, _): .refused(status: status, text)
        case .malformed: .malformed(text)
        case .held: .held(text)
        case .cancelled: .cancelled
        }
    }
}
