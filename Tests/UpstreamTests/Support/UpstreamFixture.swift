import JSONText
import ReferenceUpstream
import SocketServer
import TestSupport
import Testing
import Upstream

@testable import EntitySchema

/// An upstream for a schema and its records, in several setups; contracts run in each of them.
enum UpstreamFixture: CaseIterable {
    /// Over libcurl, loopback and a `SocketServer`.
    case sockets
    /// The same HTTP without sockets.
    case calls

    static let now = Timestamp.sample

    /// Runs `body` with the upstream and the reference upstream behind it.
    func with(
        _ schema: EntitySchema, records: [String: [JSONText]],
        settings: ReferenceUpstream.Settings = ReferenceUpstream.Settings(),
        _ body: (any Upstream, ReferenceUpstream) async throws -> Void
    ) async throws {
        let reference = ReferenceUpstream(schema: schema, records: records, settings: settings, now: { Self.now })
        switch self {
        case .calls:
            let transport = CallTransport(reference: reference)
            let upstream = HTTPUpstream(
                plan: schema.upstream, baseURL: "http://localhost", transport: transport, token: nil, now: { Self.now })
            try await body(upstream, reference)
        case .sockets:
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { await reference.respond(to: $0) }
            let address = try #require(try server.bind().first).description
            let running = Task { try await server.run() }
            defer { running.cancel() }
            // No test is about this deadline: on a busy machine, an answer may take long.
            let upstream = HTTPUpstream(
                plan: schema.upstream, baseURL: address, transport: try CurlTransport(userAgent: "test"), token: nil,
                deadline: .seconds(600), now: { Self.now })
            try await body(upstream, reference)
        }
    }
}

/// Passes requests to a reference upstream without a socket.
struct CallTransport: HTTPTransport {
    let reference: ReferenceUpstream

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        var headers = Headers()
        for header in request.headers { headers.append(name: header.name, value: header.value) }
        let target = request.url.dropFirst("http://localhost".count).split(separator: "?", maxSplits: 1)
        let call = Request(
            method: request.method, path: String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
            headers: headers, body: request.body ?? [])
        let response: Response
        do throws(BrokenExchange) {
            response = try await reference.exchange(call)
        } catch {
            throw error == .refused ? .unreachable("refused") : .ambiguous("no answer")
        }
        guard case .complete = response.ending, case .bytes(let body) = response.body else {
            throw .ambiguous("cut off")
        }
        return HTTPResponse(
            status: response.status, headers: response.headers.map { HTTPHeader($0.name, $0.value) }, body: body)
    }
}
