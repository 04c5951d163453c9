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
                plan: schema.upstream, baseURL: "http://localhost", transport: transport, now: { Self.now })
            try await body(upstream, reference)
        case .sockets:
            let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { await reference.respond(to: $0) }
            let address = try #require(try server.bind().first).description
            let running = Task { try await server.run() }
            defer { running.cancel() }
            // No test is about this deadline: on a busy machine, an answer may take long.
            let upstream = HTTPUpstream(
                UpstreamAccess(
                    plan: schema.upstream, baseURL: address, transport: try CurlTransport(userAgent: "test"),
                    now: { Self.now }), token: nil, deadline: .seconds(600))
            try await body(upstream, reference)
        }
    }
}
