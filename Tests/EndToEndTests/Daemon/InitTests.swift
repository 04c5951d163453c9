import Foundation
import TestSupport
import Testing

/// `init` as people run it, with the built command.
@Suite("Drafting at the command line")
struct InitTests {
    private let folder: TemporaryFolder
    private let document = ProjectFiles.root.appending(path: "docs/examples/library.openapi.yaml").path

    init() throws {
        folder = try TemporaryFolder()
    }

    private var draft: String { folder.path("draft.yaml") }

    /// Drafts with --ask in a terminal where these lines are typed, and then Ctrl-D.
    private func asked(_ answers: String...) async throws -> (status: Int32, output: String) {
        let program = Program.products.appending(path: "repairminder-sync").path
        let command = "'\(program)' init --from '\(document)' --out '\(draft)' --ask"
        let terminal = try Program(URL(filePath: "/usr/bin/script"), ["-qec", command, "/dev/null"])
        for answer in answers { try await terminal.type(answer) }
        try await terminal.endInput()
        return await terminal.finish()
    }

    @Test("--ask takes answers at a terminal, and asks again after one that cannot be used", .timeLimit(.minutes(10)))
    func answers() async throws {
        let (status, output) = try await asked("loan", "all", "here", "https://library.shop.com", "header:X-Api-Key")
        #expect(status == 0, "\(output)")
        #expect(output.contains("there is no list loan; did you mean loans?"), "\(output)")
        #expect(output.contains("here is not an address"), "\(output)")
        let yaml = try String(contentsOfFile: draft, encoding: .utf8)
        #expect(yaml.contains("base_url: \"https://library.shop.com\"  # as answered"), "\(yaml)")
        #expect(yaml.contains("header: X-Api-Key") && !yaml.contains("TODO base_url"), "\(yaml)")
    }

    @Test("what is not answered stays as it was guessed", .timeLimit(.minutes(10)))
    func guesses() async throws {
        let (status, output) = try await asked("")
        #expect(status == 0, "\(output)")
        let yaml = try String(contentsOfFile: draft, encoding: .utf8)
        #expect(yaml.contains("auth: { type: bearer }") && yaml.contains("TODO base_url"), "\(yaml)")
    }

    @Test("each guess has its reason beside it, and the report counts them", .timeLimit(.minutes(10)))
    func reasons() async throws {
        let (status, output) = try await Program.run("repairminder-sync", ["init", "--from", document, "--dry-run"])
        #expect(status == 0, "\(output)")
        #expect(output.contains("title: \"{title}\"  # by its name\n"), "\(output)")
        #expect(output.contains("# look_up: by what a creation sends"), "\(output)")
        // Sign-in, paging, key, title, changes and look_up.
        #expect(output.contains("Guessed: 6 values."), "\(output)")
    }

    @Test("without an address in the document, the next commands name its flag", .timeLimit(.minutes(10)))
    func address() async throws {
        let (status, output) = try await Program.run("repairminder-sync", ["init", "--from", document, "--dry-run"])
        #expect(status == 0, "\(output)")
        #expect(output.contains("run --schema ./library.yaml --upstream.base-url URL "), "\(output)")
    }

    @Test("a file that exists is refused before anything is asked", .timeLimit(.minutes(10)))
    func existing() async throws {
        try folder.write("mine", to: "draft.yaml")
        let (status, output) = try await asked()
        #expect(status == 2 && output.contains("exists") && !output.contains("Which lists"), "\(output)")
        #expect(try String(contentsOfFile: draft, encoding: .utf8) == "mine")
    }

    @Test("--ask without a terminal is refused, and nothing is written", .timeLimit(.minutes(10)))
    func pipe() async throws {
        let arguments = ["init", "--from", document, "--out", draft, "--ask"]
        let (status, output) = try await Program.run("repairminder-sync", arguments)
        #expect(status == 2 && output.contains("--ask needs a terminal"), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: draft))
    }

    @Test("a document that cannot be read ends with 65, as any input does", .timeLimit(.minutes(10)))
    func missing() async throws {
        let (status, output) = try await Program.run("repairminder-sync", ["init", "--from", folder.path("none.yaml")])
        #expect(status == 65 && output.contains("does not exist"), "\(output)")
    }

    @Test("a document is fetched from its address, encrypted from other machines", .timeLimit(.minutes(10)))
    func fetched() async throws {
        try await Demo.run { demo in
            let address = "http://\(demo.api)/openapi.json"
            let arguments = ["init", "--from", address, "--only", "orders", "--dry-run"]
            let (status, output) = try await Program.run("repairminder-sync", arguments)
            #expect(status == 0 && output.contains("# Drafted from \(address)"), "\(output)")
            #expect(output.contains("  orders  GET /v1/orders  create, update"), "\(output)")
        }
        let far = ["init", "--from", "http://shop.example/openapi.json", "--dry-run"]
        let (status, output) = try await Program.run("repairminder-sync", far)
        #expect(status == 2 && output.contains("without encryption"), "\(output)")
    }

    @Test("a live API is drafted from what its lists answer", .timeLimit(.minutes(10)))
    func probed() async throws {
        try await Demo.run { demo in
            let lists = ["orders", "clients"].flatMap { ["--probe", "http://\(demo.upstream)/api/\($0)"] }
            let (status, output) = try await Program.run("repairminder-sync", ["init"] + lists + ["--dry-run"])
            #expect(status == 0, "\(output)")
            #expect(output.contains("client_id: { type: reference, to: clients"), "\(output)")
            #expect(output.contains("page: page") && output.contains("size: limit"), "\(output)")
            #expect(!output.contains("TODO pagination"), "\(output)")
            #expect(output.hasSuffix("\n  repairminder-sync run --schema ./127-0-0-1.yaml"), "\(output)")
        }
    }
    @Test("a document that describes no answers is completed by what its lists answer", .timeLimit(.minutes(10)))
    func completed() async throws {
        let document = """
            openapi: 3.0.0
            info: { title: Shop }
            paths:
              /orders: { get: { responses: { "200": { description: OK } } } }
              /orders/{id}: { get: { responses: { "200": { description: OK } } } }
            """
        try folder.write(document, to: "bare.yaml")
        let bare = ["init", "--from", folder.path("bare.yaml"), "--dry-run"]
        let (refused, hint) = try await Program.run("repairminder-sync", bare)
        #expect(refused == 65 && hint.contains("--probe https://HOST"), "\(hint)")
        try await Demo.run { demo in
            let more = ["--probe", "http://\(demo.upstream)/api"]
            let (status, output) = try await Program.run("repairminder-sync", bare + more)
            #expect(status == 0 && output.contains("# its lists answered there"), "\(output)")
            #expect(output.contains("  orders  GET /orders  read only"), "\(output)")
        }
    }
}
