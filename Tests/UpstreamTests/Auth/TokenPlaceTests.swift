import EntitySchema
import JSONText
import ReferenceUpstream
import TestSupport
import Testing

@testable import Upstream

/// A fixed token.
private struct Token: Credentials {
    let text: String?

    func current() -> String? { text }

    func renew(refused: String?) -> Bool { false }
}

@Suite("Where a token is sent")
struct TokenPlaceTests {
    /// How a schema says it, and a token that belongs there.
    private static let places = [
        ("{ header: Authorization, value: Token {$token} }", "k-123"),
        ("{ header: X-Api-Key }", "k-123"),
        (#"{ header: X-Auth, value: 'key="{$token}"' }"#, "k-123"),
        ("{ query: api key }", "k=1&2/3"),
        ("{ basic: true }", "shop@example.org:pass wörd"),
    ]

    private static func schema(_ send: String) throws -> EntitySchema {
        let quoted = send.contains("'") ? send : send.replacing("Token {$token}", with: "'Token {$token}'")
        return try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  base_url: http://localhost
                  auth: { send: \(quoted) }
                  records: items
                  pagination: { style: next_url, next: next, page_size: 2 }
                entities:
                  orders:
                    fields: { id: { type: string }, notes: { type: string } }
                    pull: { path: /orders }
                    push: { update: { call: "PATCH /orders/{id}" } }
                """, file: "s.yaml")
    }

    private func pages(
        _ send: String, _ token: String?, expected: String, _ positions: (String) -> Void = { _ in }
    ) async throws -> Int {
        let schema = try Self.schema(send)
        let rows = try (1...5).map { try JSONText(parsing: #"{"id":"r\#($0)"}"#) }
        var settings = ReferenceUpstream.Settings()
        settings.token = expected
        let reference = ReferenceUpstream(
            schema: schema, records: ["orders": rows], settings: settings, now: { Timestamp.sample })
        let upstream = HTTPUpstream(
            plan: schema.upstream, transport: CallTransport(reference: reference), token: Token(text: token))
        let pull = try #require(schema["orders"]?.pull)
        var position: String?
        var count = 0
        repeat {
            let page = try await upstream.page(PageRequest(path: pull.path, list: pull.list, position: position))
            count += page.count
            position = page.next
            if let position { positions(position) }
        } while position != nil
        let change = PushRequest(entity: "orders", method: "PATCH", path: "/orders/r1", body: .object(["notes": "n"]))
        _ = try await upstream.push(change, idempotencyKey: "1")
        return count
    }

    @Test("every request has it there, and no position of a list repeats it", arguments: places)
    func sent(_ send: String, _ token: String) async throws {
        let secret = Entity.percentEncoded(token)
        var repeated = 0
        let count = try await pages(send, token, expected: token) { repeated += $0.contains(secret) ? 1 : 0 }
        #expect(count == 5 && repeated == 0)
    }

    @Test("a wrong one is refused, and no error repeats it in any form", arguments: places)
    func refused(_ send: String, _ token: String) async throws {
        let wrong = token.replacing("1", with: "9").replacing("w", with: "v")
        await #expect {
            _ = try await pages(send, wrong, expected: token)
        } throws: { error in
            guard case .unauthorized(let message)? = error as? UpstreamError else { return false }
            return !message.contains(wrong) && !message.contains(Entity.percentEncoded(wrong))
        }
    }

    @Test("what a server quotes of a password is left out of errors")
    func quoted() async throws {
        let schema = try Self.schema("{ basic: true }")
        let transport = ScriptedTransport { request in
            let sent = request.headers.first { $0.name == "Authorization" }?.value ?? ""
            return HTTPResponse(status: 400, headers: [], body: Array("no \(sent), secret-word is wrong".utf8))
        }
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, token: Token(text: "ada:secret-word"))
        await #expect {
            _ = try await upstream.page(PageRequest(path: "/orders", list: #require(schema["orders"]?.pull).list))
        } throws: { error in
            let message = (error as? UpstreamError)?.message ?? "secret-word"
            return !message.contains("secret-word") && !message.contains("YWRhOnNlY3JldC13b3Jk")
        }
    }

    @Test(
        "a place that cannot be is refused with what to write",
        arguments: [
            ("{ header: X-Key, query: key }", "one of header, query and basic"),
            ("{}", "one of header, query and basic"),
            ("{ header: X-Key, value: abc }", "{$token} once"), ("{ query: key, value: abc }", "belongs to header"),
            ("{ header: Host }", "set by the daemon itself"), ("{ header: X-Tenant }", "upstream.headers too"),
            ("{ basic: false }", "basic: true"), ("{ heade: X }", "header"),
        ])
    func invalid(_ send: String, _ words: String) {
        #expect {
            try EntitySchema(
                yaml: """
                    schema: s
                    upstream: { base_url: http://localhost, headers: { x-tenant: north }, auth: { send: \(send) } }
                    entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                    """, file: "s.yaml")
        } throws: { error in
            (error as? SchemaError)?.description.contains(words) == true
        }
    }
}
