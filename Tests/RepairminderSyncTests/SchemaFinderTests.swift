import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct SchemaFinderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func path(_ yaml: String) throws -> String {
        try SchemaFinder(environment: folder.environment()).path(for: folder.configuration(yaml: yaml))
            .replacing(folder.path + "/", with: "")
    }

    @Test("a name is searched next to the file, then in the system's directory, then among shipped schemas")
    func order() throws {
        try folder.write("", to: "share/repairminder-sync/schemas/mine.yaml")
        #expect(try path("schema: mine") == "share/repairminder-sync/schemas/mine.yaml")
        try folder.write("", to: "etc/schemas/mine.yaml")
        #expect(try path("schema: mine") == "etc/schemas/mine.yaml")
        try folder.write("", to: "schemas/mine.yaml")
        #expect(try path("schema: mine") == "schemas/mine.yaml")
    }

    @Test("a program built in a checkout ships the checkout's schemas")
    func checkout() throws {
        try folder.write("", to: "config/schemas/mine.yaml")
        var environment = folder.environment()
        environment.executable = folder.path + "/.build/x86_64-unknown-linux-gnu/debug/repairminder-sync"
        let path = try SchemaFinder(environment: environment).path(for: folder.configuration(yaml: "schema: mine"))
        #expect(path == folder.path + "/config/schemas/mine.yaml")
    }

    @Test("a path is used unchanged", arguments: ["./a/mine.yaml", "a/mine.yaml"])
    func path(schema: String) throws {
        #expect(try path("schema: \(schema)") == "a/mine.yaml")
    }

    @Test("an unknown name is rejected with a suggestion and the searched directories")
    func unknown() throws {
        try folder.write("", to: "schemas/repairminder.yaml")
        let error = #expect(throws: ConfigurationError.self) { try path("schema: repairmindr") }
        let message = try #require(error?.description.replacing(folder.path + "/", with: ""))
        #expect(
            message == "schema: no schema named repairmindr; did you mean repairminder? "
                + "Searched for repairmindr.yaml in schemas, etc/schemas, share/repairminder-sync/schemas")
    }
}
