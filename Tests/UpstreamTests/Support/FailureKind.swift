import Testing

@testable import Upstream

/// What the caller can do about a failure, without its message.
enum FailureKind: Equatable { case unsendable, unreachable, ambiguous, dropped, unacceptable, cancelled }

extension TransportError {
    var kind: FailureKind {
        switch self {
        case .unsendable: .unsendable
        case .unreachable: .unreachable
        case .ambiguous: .ambiguous
        case .dropped: .dropped
        case .unacceptable: .unacceptable
        case .cancelled: .cancelled
        }
    }

    var message: String {
        switch self {
        case .unsendable(let text), .unreachable(let text), .ambiguous(let text), .dropped(let text),
            .unacceptable(let text):
            text
        case .cancelled: ""
        }
    }
}

extension Result {
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension HTTPTransport {
    /// The error of a request that must fail.
    func failure(of request: HTTPRequest) async throws -> TransportError {
        do {
            let response = try await send(request)
            Issue.record("answered \(response.status) with \(response.body.count) bytes")
            throw CancellationError()
        } catch let error as TransportError {
            return error
        }
    }
}
