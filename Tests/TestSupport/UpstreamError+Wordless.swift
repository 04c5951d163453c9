package import Upstream

extension UpstreamError {
    /// The error without its message, for comparing what kind it is of.
    package var wordless: UpstreamError { saying("") }
}
