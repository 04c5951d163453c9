import Foundation
import ShippedSchemas
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct SchemaFinderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func file(_ yaml: String) throws -> String {
        try SchemaFinder(environment: folder.environment()).source(for: folder.configuration(yaml: yaml)).file
            .replacing(folder.path + "/", with: "")
    }

    @Test("a name is searched next to the file, then in the system's directory, then among those built in")
    func order() throws {
        #expect(try file("schema: repairminder") == "repairminder.yaml (built in)")
        try folder.write("", to: "etc/schemas/repairminder.yaml")
        #expect(try file("schema: repairminder") == "etc/schemas/repairminder.yaml")
        try folder.write("", to: "schemas/repairminder.yaml")
        #expect(try file("schema: repairminder") == "schemas/repairminder.yaml")
    }

    @Test("each file of config/schemas is built in, as it is")
    func builtIn() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: ProjectFiles.root.path + "/config/schemas")
            .filter { $0.hasSuffix(".yaml") }
        #expect(Set(files) == Set(ShippedSchemas.names.map { $0 + ".yaml" }))
        for name in ShippedSchemas.names {
            #expect(
                try ShippedSchemas.text(of: name) == String(contentsOf: ProjectFiles.schemaFile(name), encoding: .utf8))
        }
    }

    @Test("a path is used unchanged", arguments: ["./a/mine.yaml", "a/mine.yaml"])
    func path(schema: String) throws {
        try folder.write("", to: "a/mine.yaml")
        #expect(try file("schema: \(schema)") == "a/mine.yaml")
    }

    @Test("a file of more than 8 MiB is not read")
    func large() throws {
        try folder.write(String(repeating: "#", count: (8 << 20) + 1), to: "a/mine.yaml")
        let error = #expect(throws: ConfigurationError.self) { try file("schema: a/mine.yaml") }
        #expect(error?.description.contains("more than 8 MiB") == true)
    }

    @Test("an unknown name is rejected with a suggestion and the searched directories")
    func unknown() throws {
        try folder.write("", to: "schemas/repairminder.yaml")
        let error = #expect(throws: ConfigurationError.self) { try file("schema: repairmindr") }
        let message = try #require(error?.description.replacing(folder.path + "/", with: ""))
        #expect(
            message == "schema: no schema named repairmindr; did you mean repairminder? "
                + "Searched for repairmindr.yaml in schemas, etc/schemas and among those built in: "
                + "itori, messages, propdocs, repairminder, repairminder-live")
    }

    @Test("a directory that is both beside the configuration file and the system's is searched once")
    func systemFile() throws {
        let path = try folder.write("schema: mine", to: "etc/config.yaml")
        let environment = folder.environment()
        let configuration = try ConfigurationReader(path: path, flags: [:], environment: environment).configuration()
        let finder = SchemaFinder(environment: environment)
        let error = #expect(throws: ConfigurationError.self) { try finder.source(for: configuration) }
        let message = try #require(error?.description)
        #expect(message.split(separator: "etc/schemas", omittingEmptySubsequences: false).count == 2, "\(message)")
    }
}
