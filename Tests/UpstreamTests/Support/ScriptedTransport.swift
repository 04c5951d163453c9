import JSONText
import Synchronization
import Upstream

/// Answers every request with a function and records them all.
final class ScriptedTransport: HTTPTransport {
    typealias Answer = @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse

    private let answer: Answer
    private let log = Mutex<[HTTPRequest]>([])

    init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    var requests: [HTTPRequest] { log.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        log.withLock { $0.append(request) }
        return try await answer(request)
    }
}

extension HTTPRequest {
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    var json: JSONText? { body.flatMap { try? JSONText($0) } }
}

extension HTTPResponse {
    static func json(_ status: Int, _ text: String, _ headers: [HTTPHeader] = []) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: Array(text.utf8))
    }
}
