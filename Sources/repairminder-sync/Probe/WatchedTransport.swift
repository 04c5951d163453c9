import JSONText
import Synchronization
import Upstream

/// Passes requests on and keeps the last answer: a probe looks at more of it than the schema names.
final class WatchedTransport: HTTPTransport {
    private let inner: any HTTPTransport
    /// The path of a call whose answers are of no interest.
    private let ignored: String?
    private let answer = Mutex<HTTPResponse?>(nil)

    init(_ inner: any HTTPTransport, ignoring path: String? = nil) {
        self.inner = inner
        ignored = path
    }

    /// The last answer; nil before the first, and when none came.
    var last: HTTPResponse? { answer.withLock { $0 } }

    /// Its body, if that is JSON.
    var lastBody: JSONText? { last.flatMap { try? JSONText($0.body) } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        if let ignored, request.url.hasSuffix(ignored) { return try await inner.send(request) }
        answer.withLock { $0 = nil }
        let response = try await inner.send(request)
        answer.withLock { $0 = response }
        return response
    }
}
