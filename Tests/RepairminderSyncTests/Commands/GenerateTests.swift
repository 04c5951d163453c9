import ArgumentParser
import ClientGenerator
import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Generating clients at the command line")
struct GenerateTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func options(_ arguments: String...) throws -> GenerateOptions { try GenerateOptions.parse(arguments) }

    @Test("the types of the ticket screen are those of the schema; else write them again with generate swift")
    func committed() throws {
        let file = ProjectFiles.schemaFile("repairminder").path
        let text = try options("--schema", file).text(in: .swift, environment: folder.environment())
        #expect(try text == ProjectFiles.text("Sources/ticket-screen/RepairMinder.generated.swift"))
    }

    @Test(
        "the example programs have 40 lines at most",
        arguments: [
            "Sources/ticket-screen/TicketScreen.swift", "docs/examples/report.py",
        ])
    func short(path: String) throws {
        #expect(try ProjectFiles.text(path).split(separator: "\n", omittingEmptySubsequences: false).count <= 41)
    }

    @Test("without --schema it is the schema of the configuration, and --output takes the text")
    func configured() throws {
        try folder.write("schema: messages\n", to: "config.yaml")
        let (config, output) = (folder.path("config.yaml"), folder.path("messages.py"))
        try options("--config", config, "--output", output).write(.python, environment: folder.environment())
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(text.hasPrefix("# Written by `repairminder-sync generate python`"))
        #expect(text.contains("# API v1, schema messages, SHA-256 "))
    }

    @Test("a file that cannot be written is an error that says so")
    func unwritable() throws {
        let options = try options("--schema", "messages", "--output", folder.path("none/messages.py"))
        let error = #expect(throws: CommandFailure.self) {
            try options.write(.python, environment: folder.environment())
        }
        #expect(error?.message.contains("cannot write") == true)
    }
}
