import JSONText
import TestSupport
import Testing

@testable import EntitySchema

@Suite("Signals in a schema")
struct SignalTests {
    private func schema(_ source: String) throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  signals:
                    - \(source)
                entities:
                  orders: { fields: { id: { type: string } }, pull: { path: /orders } }
                  parts: { fields: { id: { type: integer } }, pull: { path: /parts } }
                  notes: { fields: { id: { type: string } }, local: true }
                """, file: "s.yaml")
    }

    private func source(_ text: String) throws -> SignalSource {
        try #require(try schema(text).upstream.signals.first)
    }

    private func signals(_ source: SignalSource, _ message: String, event: String? = nil) throws -> [Signal?] {
        source.reading.signals(in: try JSONText(parsing: message), event: event)
    }

    @Test("a message names entity and key in the places that the schema says")
    func places() throws {
        let source = try source(
            "sse: { path: /events, entity: { at: record.kind, names: { sales: orders } }, key: [record.id, id] }")
        #expect(source.name == "sse /events")
        #expect(try signals(source, #"{"record":{"kind":"sales","id":"a"}}"#) == [Signal(entity: "orders", key: "a")])
        #expect(try signals(source, #"{"record":{"kind":"parts"},"id":7}"#) == [Signal(entity: "parts", key: "7")])
        #expect(try signals(source, #"{"record":{"kind":"parts"}}"#) == [Signal(entity: "parts")])
        for message in [#"{"record":{"kind":"other","id":"a"}}"#, "{}", "[{}]", "7", #""text""#] {
            #expect(try signals(source, message) == [nil])
        }
    }

    @Test("a new position can come with an error only if `next` is a place in the answer")
    func expiredPosition() throws {
        func events(_ since: String) throws -> SignalEvents? {
            let source = try source("events: { path: /events, since: \(since), entity: orders, key: id }")
            guard case .events(let events) = source.kind else { return nil }
            return events
        }
        #expect(try events("{ param: sync, next: sync, expired: 412 }")?.page(since: nil).renewing == [412])
        #expect(try events("{ param: sync, next: sync }")?.page(since: "s1").renewing == [])
        for since in ["next: { last: id }, expired: 412", "greatest: at, expired: 412", "next: sync, expired: 200"] {
            #expect(throws: SchemaError.self) { try events("{ param: sync, \(since) }") }
        }
    }

    @Test("a key that cannot be used, or is too long, is none, so the entity is pulled")
    func oddKeys() throws {
        let source = try source("sse: { path: /events, entity: orders, key: id }")
        let long = "\"\(String(repeating: "k", count: 501))\""
        for key in ["null", #"{"a":1}"#, "[1]", "true", #""""#, #""..""#, #""a\u0000b""#, "1.5", long] {
            #expect(try signals(source, "{\"id\":\(key)}") == [Signal(entity: "orders")])
        }
    }

    @Test("a name with megabytes of combining marks is not looked for", .timeLimit(.minutes(10)))
    func marks() throws {
        // Looking for this text takes minutes.
        let name = "a" + String(repeating: "\u{315}\u{316}", count: 500_000)
        let source = try source("webhook: { path: /h, entity: { at: kind }, key: id, signature: { header: X } }")
        #expect(try signals(source, "{\"kind\":\"\(name)\"}") == [nil])
        #expect(try signals(source, #"{"kind":"parts"}"#) == [Signal(entity: "parts")])
        #expect(try signals(source, "{\"kind\":\"parts\",\"id\":\"\(name)\"}") == [Signal(entity: "parts")])
        let named = try self.source("sse: { path: /events, entity: { at: $event, names: { sales: orders } } }")
        #expect(try signals(named, "{}", event: name) == [nil])
    }

    @Test("the name of an event can say the entity, and a message can name several records")
    func eventNames() throws {
        let named = try source("sse: { path: /events, entity: { at: $event, names: { orders/*: orders } }, key: id }")
        #expect(try signals(named, #"{"id":"a"}"#, event: "orders/*") == [Signal(entity: "orders", key: "a")])
        #expect(try signals(named, #"{"id":"a"}"#, event: "others/*") == [nil])
        let several = try source(
            "webhook: { path: /h, records: events, entity: { at: kind }, key: id, signature: { header: X } }")
        #expect(
            try signals(several, #"{"events":[{"kind":"orders","id":"a"},{"kind":"x"}]}"#)
                == [Signal(entity: "orders", key: "a"), nil])
    }

    @Test("a message with very many records is one signal of its entities")
    func many() throws {
        let source = try source(
            "webhook: { path: /h, records: all, entity: orders, key: id, signature: { header: X } }")
        let elements = (1...5000).map { #"{"id":\#($0)}"# }.joined(separator: ",")
        let found = try signals(source, #"{"all":[\#(elements)]}"#)
        #expect(found.count == 1001 && found.last == Signal(entity: "orders"))
    }

    @Test("a list of events is asked for from where the last poll ended")
    func positions() throws {
        func path(_ since: String, _ position: String?) throws -> String {
            let source = try source("events: { path: /log, query: { of: all }, since: \(since), entity: orders }")
            guard case .events(let events) = source.kind else { return "" }
            return events.page(since: position).request.path
        }
        #expect(try path("{ param: after, next: meta.cursor }", nil) == "/log?of=all")
        #expect(try path("{ param: after, next: meta.cursor }", "a b") == "/log?after=a%20b&of=all")
        #expect(try path("{ param: after, next: { last: id } }", "9") == "/log?after=9&of=all")
        #expect(try path("{ param: from, greatest: at }", "2026-01-01") == "/log?of=all&from=2026-01-01")
    }

    @Test(
        "each mistake is refused with its place, and the message says what is expected",
        arguments: [
            ("ss: {}", "unknown key ss; did you mean sse?"),
            ("{ sse: { path: /a, entity: orders }, events: {} }", "expected one of sse, events, webhook"),
            ("sse: { entity: orders }", "the key path is missing"),
            ("sse: { path: a, entity: orders }", "expected a path that begins with /"),
            ("sse: { path: /a }", "the key entity is missing"),
            ("sse: { path: /a, entity: order }", "there is no entity order; did you mean orders?"),
            ("sse: { path: /a, entity: notes }", "notes is never pulled"),
            ("sse: { path: /a, entity: { at: x, names: { y: order } } }", "names.y: there is no entity order"),
            ("sse: { path: /a, entity: orders, idle: 1s }", "expected 5s to 24h"),
            ("sse: { path: /a, entity: orders, subscribe: { on: A, call: GET /a, body: {} } }", "expected a method"),
            (
                "sse: { path: /a, entity: orders, subscribe: { on: A, call: POST /a, body: { c: \"{$evnt.x}\" } } }",
                "{$evnt.x} cannot stand here"
            ),
            ("events: { path: /a, entity: orders }", "the key since is missing"),
            ("events: { path: /a, entity: orders, since: { param: a } }", "expected next"),
            ("events: { path: /a, entity: orders, since: { param: a, next: b, greatest: c } }", "expected next"),
            ("events: { path: /a, entity: orders, every: 1ms, since: { param: a, next: b } }", "expected 100ms to 24h"),
            ("webhook: { path: /a, entity: orders }", "the key signature is missing"),
            ("webhook: { path: \"/a?b\", entity: orders, signature: { header: X } }", "expected a path in plain ASCII"),
            ("webhook: { path: /a, entity: orders, signature: { header: X, format: base6 } }", "did you mean base64?"),
            ("webhook: { path: /a, entity: orders, signature: { header: X, over: x } }", "the body is not signed"),
            (
                "webhook: { path: /a, entity: orders, signature: { header: X, over: \"{$timestamp}.{$body}\" } }",
                "{$timestamp} cannot stand here"
            ),
            (
                "webhook: { path: /a, entity: orders, signature: { header: X, algorithm: token, over: body } }",
                "compares the header with the secret itself"
            ),
        ])
    func mistakes(_ text: String, _ words: String) throws {
        let error = #expect(throws: SchemaError.self) { try schema(text) }
        let problem = try #require(error).description
        #expect(problem.contains(words), "\(problem)")
        #expect(problem.contains("upstream.signals.0"))
    }

    @Test("the same source twice is refused")
    func twice() throws {
        let error = #expect(throws: SchemaError.self) {
            try schema("sse: { path: /a, entity: orders }\n    - sse: { path: /a, entity: parts }")
        }
        #expect(try #require(error).description.contains("sse /a is there twice"))
    }
}
