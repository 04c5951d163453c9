import JSONText
import Testing

@testable import EntitySchema

@Suite("The trace of a change")
struct TraceContextTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    private static func read(_ traceparent: String, _ tracestate: String? = nil) -> String? {
        TraceContext(traceparent: traceparent, tracestate: tracestate)?.stored
    }

    @Test("is read from a traceparent of version 00, with the flags that this version knows")
    func valid() {
        for (given, kept) in [("00", "00"), ("01", "01"), ("03", "03"), ("ff", "03"), ("04", "00")] {
            #expect(Self.read("00-\(Self.id)-\(Self.parent)-\(given)") == "00-\(Self.id)-\(Self.parent)-\(kept)")
        }
    }

    @Test("is read from a later version too, which may be longer, and is passed on in version 00")
    func later() {
        let known = "00-\(Self.id)-\(Self.parent)-01"
        #expect(Self.read("cc-\(Self.id)-\(Self.parent)-01") == known)
        #expect(Self.read("01-\(Self.id)-\(Self.parent)-01-what-comes-later") == known)
        #expect(Self.read("01-\(Self.id)-\(Self.parent)-01.x") == nil)
    }

    @Test(
        "is ignored if the traceparent is malformed",
        arguments: [
            "", "00", "00-\(id)-\(parent)", "00-\(id)-\(parent)-1", "00-\(id)-\(parent)-01-", "00-\(id)-\(parent)-01-x",
            "ff-\(id)-\(parent)-01", "00-\(id.uppercased())-\(parent)-01", "00-\(id)-\(parent)-0g",
            "00-00000000000000000000000000000000-\(parent)-01", "00-\(id)-0000000000000000-01",
            "00_\(id)_\(parent)_01", " 00-\(id)-\(parent)-01", "00-\(id)0-\(parent)-01", "00-\(id)-\(parent)-é",
        ])
    func malformed(_ traceparent: String) {
        #expect(Self.read(traceparent) == nil)
    }

    @Test("keeps its tracestate without empty members and spaces around them, and drops one that it cannot read")
    func state() {
        func state(_ text: String) -> String? {
            Self.read("00-\(Self.id)-\(Self.parent)-01", text)?.split(separator: " ", maxSplits: 1).dropFirst().first
                .map(String.init)
        }
        #expect(state("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE") == "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE")
        #expect(state(" a@x=1 ,, 2b/-_*= v w\t,") == "a@x=1,2b/-_*= v w")
        for wrong in ["", ",", "a", "=1", "a=", "A=1", "_a=1", "a=b=c", "a=1,a=2", "a=é", "a=\u{7F}"] {
            #expect(state(wrong) == nil, "\(wrong)")
        }
        #expect(state((1...32).map { "k\($0)=v" }.joined(separator: ",")) != nil)
        #expect(state((1...33).map { "k\($0)=v" }.joined(separator: ",")) == nil)
    }

    @Test("passes on 512 characters of its tracestate: long members go first, then the last ones")
    func longState() {
        let long = "long=\(String(repeating: "x", count: 200))"
        let short = (10...18).map { "s\($0)=\(String(repeating: "y", count: 60))" }
        let first = "00-\(Self.id)-\(Self.parent)-01"
        let fitting = ([long] + short.prefix(2)).joined(separator: ",")
        #expect(Self.read(first, fitting) == "\(first) \(fitting)")
        let kept = short.prefix(7).joined(separator: ",")
        #expect(Self.read(first, ([long] + short).joined(separator: ",")) == "\(first) \(kept)")
    }

    @Test("is the same after it was stored, and no other text is one")
    func stored() throws {
        for state in [nil, "a=1,b=2 3"] as [String?] {
            let trace = try #require(
                TraceContext(traceparent: "00-\(Self.id)-\(Self.parent)-01", tracestate: state))
            #expect(TraceContext(stored: trace.stored) == trace)
        }
        #expect(TraceContext(stored: "") == nil)
        #expect(TraceContext(stored: "x \(Self.id)") == nil)
    }

    @Test("goes with a request as a span of its own: another one for each key and attempt, the same for a replay")
    func child() throws {
        var request = PushRequest(method: "PATCH", path: "/orders/a", body: .object([:]))
        request.trace = TraceContext(traceparent: "00-\(Self.id)-\(Self.parent)-01", tracestate: "a=1")
        let yaml = """
            schema: small
            upstream:
              base_url: http://localhost
            entities:
              notes:
                fields:
                  id: { type: string }
                pull: { path: /notes }
            """
        let plan = try EntitySchema(yaml: yaml, file: "small.yaml").upstream
        func header(_ name: String, _ key: String) -> String? {
            request.request(plan, idempotencyKey: key).headers.first { $0.name == name }?.value
        }
        let first = try #require(header("traceparent", "k1"))
        #expect(first.hasPrefix("00-\(Self.id)-") && first.hasSuffix("-01") && !first.contains(Self.parent))
        #expect(TraceContext(traceparent: first) != nil)
        #expect(header("tracestate", "k1") == "a=1")
        #expect(header("traceparent", "k1") == first)
        #expect(header("traceparent", "k2") != first)
        request.trace?.attempt = 1
        #expect(header("traceparent", "k1") != first)
        request.trace = nil
        #expect(header("traceparent", "k1") == nil)
    }

    @Test("goes with a batch if all of its changes have the same one")
    func batch() throws {
        let yaml = """
            schema: small
            upstream:
              base_url: http://localhost
            entities:
              notes:
                fields:
                  id: { type: string }
                  text: { type: string }
                pull: { path: /notes }
                push:
                  update: { call: "PATCH /notes/{id}", batch: { call: PATCH /notes } }
            """
        let schema = try EntitySchema(yaml: yaml, file: "small.yaml")
        let entity = try #require(schema["notes"])
        func header(_ traces: [TraceContext?]) throws -> String? {
            let body = JSONText.object(["text": "new"])
            let plan = try #require(
                entity.batchPlan(for: .update, record: .object(["id": "a", "text": "new"]), fields: ["text"]))
            let elements = try traces.enumerated().map { number, trace in
                let record = JSONText.object(["id": .string("n\(number)"), "text": "new"])
                var request = try #require(entity.request(for: .update, record: record, body: body, version: nil))
                request.trace = trace
                return entity.element(request, of: record, idempotencyKey: "k\(number)", in: plan)
            }
            let sent = BatchRequest(plan: plan, elements: elements).request(schema.upstream)
            return sent.headers.first { $0.name == "traceparent" }?.value
        }
        let one = TraceContext(traceparent: "00-\(Self.id)-\(Self.parent)-01")
        let other = TraceContext(traceparent: "00-\(Self.id)-\(Self.parent.replacing("f", with: "e"))-01")
        #expect(try header([one, one])?.hasPrefix("00-\(Self.id)-") == true)
        #expect(try header([one, other]) == nil)
        #expect(try header([one, nil]) == nil && header([nil, one]) == nil)
        var tried = try #require(one)
        tried.attempt = 2
        #expect(try header([one, tried]) != nil, "however often each was tried")
    }
}
