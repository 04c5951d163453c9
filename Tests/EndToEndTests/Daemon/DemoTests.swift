import Foundation
import JSONText
import TestSupport
import Testing

/// What `demo` prints is what a newcomer pastes.
@Suite("Demo", .serialized)
struct DemoTests {
    private func json(_ command: String, _ demo: Demo) async throws -> JSONText {
        try JSONText(parsing: await demo.output(of: command))
    }

    @Test(
        "each command it prints works: records, a filter, a change that arrives", .timeLimit(.minutes(10)),
        arguments: ["repairminder", "repairminder-live", "propdocs", "itori", "messages"])
    func commands(schema: String) async throws {
        try await Demo.run(schema: schema) { demo in
            let calls = demo.commands.filter { $0.hasPrefix("curl ") }
            try #require(calls.count == 5)
            #expect(try await json(calls[0], demo)["data"]?.elements.isEmpty == false)
            #expect(try await !demo.output(of: calls[1]).isEmpty)
            #expect(try await json(calls[2], demo)["pending_fields"]?.elementCount == 1)
            _ = try await demo.output(of: "curl -s -X POST '\(demo.api)/v1/sync?wait=true'")
            #expect(try await demo.output(of: calls[3]) == #"{"pending":0,"failed":0}"#)
            let value = try #require(calls[2].firstMatch(of: /":("[^"]*")}'/)).1
            #expect(try await demo.output(of: calls[4]) == value)
        }
    }

    @Test("a schema that is not built in is refused with the names of those that are", .timeLimit(.minutes(10)))
    func unknownSchema() async throws {
        let (status, output) = try await Program.run("repairminder-sync", ["demo", "--port", "0", "--schema", "nope"])
        #expect(status == 78 && output.contains("there is no schema nope. Use any of itori,"), "\(output)")
        #expect(!output.contains("repairminder-demo."), "\(output)")
    }

    @Test("it shows the schema of any file, and leaves nothing behind", .timeLimit(.minutes(10)))
    func file() async throws {
        let folder = try TemporaryFolder()
        let schema = ProjectFiles.root.appending(path: "config/schemas/examples/drf.yaml").path
        let demo = try Program(
            "repairminder-sync", ["demo", "--port", "0", "--rows", "5", "--schema", schema],
            environment: ["TMPDIR": folder.path])
        _ = try await demo.line(containing: "Ctrl-C")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        await demo.signal(SIGINT)
        #expect(await demo.finish().status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("an unknown schema is refused with a suggestion", .timeLimit(.minutes(10)))
    func unknown() async throws {
        let demo = try Program("repairminder-sync", ["demo", "--port", "0", "--schema", "repairmindr"])
        let (status, output) = await demo.finish()
        #expect(status == 78)
        #expect(output.contains("did you mean repairminder?"))
    }
}
