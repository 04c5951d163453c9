extension UpstreamError {
    /// The same error with `…` for every secret that its text repeats, whole or cut off: upstreams quote what they
    /// refuse, and an error is stored, shown and logged. `SecretForm` says which ways to write a secret are found.
    ///
    /// Every request passes its errors through here before it throws them.
    package func withoutSecrets(_ secrets: [String]) -> UpstreamError {
        saying(SecretScrubber(secrets).scrubbed(message))
    }
}
