import Foundation
import RepairminderClient
import Testing

/// Errors of the daemon as Swift errors.
@Suite("Problems of the client")
struct ProblemTests {
    @Test("a problem says what is wrong with each field")
    func fields() async throws {
        let script = Script(
            .json(
                #"""
                {"type":"x","title":"Unprocessable content","status":422,"code":"invalid_fields","detail":"status: no",
                "errors":[{"code":"unknown_value","in":"body","pointer":"/status","field":"status","message":"no"}],
                "request_id":"r1","later":[1.0]}
                """#, status: 422))
        do {
            try await script.client.records("orders").update("o1", ["status": "lost"])
            Issue.record("no error")
        } catch {
            let problem = try #require(error.problem)
            #expect(problem.code == .invalidFields)
            #expect(problem.status == 422)
            #expect(problem.errors.map(\.code) == [.unknownValue])
            #expect(problem.errors.first?.pointer == "/status")
            #expect(problem.requestID == "r1")
            #expect(problem["later"] == [.number(JSONNumber(text: "1.0") ?? JSONNumber(0))])
            #expect("\(error)" == "status: no")
        }
    }

    @Test("an unknown code is kept")
    func unknownCode() async throws {
        let script = Script(.problem(409, "too_tired"))
        do {
            try await script.client.queue.discard(3)
            Issue.record("no error")
        } catch {
            #expect(error.code == "too_tired")
            #expect(error.code?.rawValue == "too_tired")
        }
    }

    @Test("dependents are numbers of changes")
    func dependents() async throws {
        let script = Script(
            .json(#"{"title":"Conflict","status":409,"code":"has_dependents","dependents":[5,6]}"#, status: 409))
        do {
            try await script.client.queue.discard(3)
            Issue.record("no error")
        } catch {
            #expect(error.code == .hasDependents)
            #expect(error.problem?.dependents == [5, 6])
        }
    }

    @Test("an answer that the daemon never gives is told apart")
    func unexpected() async throws {
        let script = Script(.json("Not Found", status: 404), .json("hello"), .json("[]"))
        for _ in 1...3 {
            await #expect(throws: ClientError.self) { try await script.client.daemon.status() }
        }
        do { _ = try await Script(.json("[]")).client.daemon.status() } catch {
            guard case .unexpected = error else { throw error }
        }
    }

    @Test("every code of the manual has a name")
    func codes() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        let names = try text("Sources/RepairminderClient/Problems/ProblemCode.swift")
        let codes = try text("docs/errors.md").matches(of: /<a id="(\w+)">/).map { String($0.1) }
        #expect(codes.count > 50)
        for code in codes { #expect(names.contains(": ProblemCode = \"\(code)\""), "\(code)") }
    }
}
