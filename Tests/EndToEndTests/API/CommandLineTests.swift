import Foundation
import JSONText
import Testing

/// What the command line has of the local API, with the built commands.
@Suite("The command line", .serialized)
struct CommandLineTests {
    private func order(_ shop: Shop) async throws -> String {
        let list = try await shop.call("GET", "/v1/orders?status=ready&limit=1").body
        return try #require(list["data"]?.elements.first?["id"]?.string)
    }

    @Test("--wait waits until the upstream has a change, and fails if it refuses one", .timeLimit(.minutes(10)))
    func waits() async throws {
        try await Shop.with("repairminder", ["--check-references"]) { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let id = try await order(shop)
            let set = try await shop.command("set", "orders", id, "notes=Waited", "--wait")
            #expect(set.status == 0 && set.output.contains("synced"), "\(set.output)")
            let there = try await shop.admin("records/orders").first { $0["id"]?.string == id }
            #expect(there?["notes"]?.string == "Waited")
            let refused = try await shop.command("create", "orders", "client_id=cli_none", "total:=1", "--wait", "20")
            #expect(refused.status == 65 && refused.output.contains("is failed (POST "), "\(refused.output)")
        }
    }

    @Test(
        "a change that the upstream does not have in time ends with 75, and stays in the queue",
        .timeLimit(.minutes(10))
    )
    func late() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await shop.command("api", "POST", "/v1/sync/pause").status == 0)
            let late = try await shop.command("set", "orders", try await order(shop), "notes=Late", "--wait", "1")
            #expect(late.status == 75 && late.output.contains("is pending"), "\(late.output)")
            #expect(try await shop.call("GET", "/v1/pending/count").body["pending"]?.integer == 1)
        }
    }

    @Test("a result that a full disk does not take is a failure", .timeLimit(.minutes(10)))
    func lostResult() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let program = Program.products.appending(path: "repairminder-sync").path
            #expect(try await shop.command("api", "POST", "/v1/sync/pause").status == 0)
            let id = try await order(shop)
            #expect(try await shop.command("set", "orders", id, "notes=x").status == 0)
            for command in [
                "list orders", "status --json", "api /v1/orders", "export orders --format csv", "queue discard 1",
                "backup '\(shop.folder.path)/copy.db'", "check-config",
            ] {
                let line = "'\(program)' \(command) --config '\(shop.folder.path)/config.yaml' >/dev/full"
                let (status, output) = try await Program(URL(filePath: "/bin/bash"), ["-c", line]).finish()
                #expect(status == 74 && output.contains("the output could not be written"), "\(command): \(output)")
            }
        }
    }

    @Test("too few descriptors are a temporary failure that says what to raise", .timeLimit(.minutes(10)))
    func fewDescriptors() async throws {
        let program = Program.products.appending(path: "repairminder-sync").path
        let line = "ulimit -n 7; exec '\(program)' status --address localhost:1"
        let (status, output) = try await Program(URL(filePath: "/bin/bash"), ["-c", line]).finish()
        #expect(status == 75 && output.contains(": raise the limit on open files"), "\(output)")
    }

    @Test("create - and set - read JSON from standard input", .timeLimit(.minutes(10)))
    func input() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let client = try #require(
                try await shop.call("GET", "/v1/clients?limit=1").body["data"]?.elements.first?["id"]?.string)
            let made = try await shop.typed(#"{"client_id": "\#(client)", "total": 12.50}"#, "create", "orders", "-")
            #expect(made.status == 0)
            let id = made.output
            #expect(try await shop.call("GET", "/v1/orders/\(id)").body["total"]?.text == "12.50")
            #expect(try await shop.typed(#"{"notes": null, "status": "ready"}"#, "set", "orders", id, "-").status == 0)
            #expect(try await shop.call("GET", "/v1/orders/\(id)").body["status"] == "ready")
            #expect(try await shop.typed("[1]", "set", "orders", id, "-").status == 65)
            #expect(try await shop.typed("{", "set", "orders", id, "-").status == 65)
            #expect(try await shop.typed("{}", "set", "orders", id, "-", "notes=x").status == 2)
        }
    }

    @Test("the value of a field is read from a file or from standard input", .timeLimit(.minutes(10)))
    func valuesOfFiles() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let id = try await order(shop)
            let file = shop.folder.appending(path: "note.txt").path
            try Data("Called.\n@home\n".utf8).write(to: URL(filePath: file))
            #expect(try await shop.command("set", "orders", id, "notes=@\(file)").status == 0)
            #expect(try await shop.call("GET", "/v1/orders/\(id)").body["notes"]?.string == "Called.\n@home")
            #expect(try await shop.typed("Typed", "set", "orders", id, "notes=@-").status == 0)
            #expect(try await shop.call("GET", "/v1/orders/\(id)").body["notes"]?.string == "Typed")
            #expect(try await shop.command("set", "orders", id, "notes=@@home").status == 0)
            #expect(try await shop.call("GET", "/v1/orders/\(id)").body["notes"]?.string == "@home")
            let missing = try await shop.command("set", "orders", id, "notes=@nowhere.txt")
            #expect(missing.status == 65 && missing.output.contains("written with @@"), "\(missing.output)")
        }
    }

    @Test("api makes any call, prints the answer, and exits by its status", .timeLimit(.minutes(10)))
    func api() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let id = try await order(shop)
            let status = try await shop.command("api", "/v1/status")
            #expect(try status.status == 0 && JSONText(parsing: status.output)["schema"] == "repairminder")
            let patched = try await shop.command("api", "PATCH", "/v1/orders/\(id)", "-d", #"{"notes": "Called"}"#)
            #expect(try patched.status == 0 && JSONText(parsing: patched.output)["notes"] == "Called")
            let typed = try await shop.typed(#"{"notes": "Typed"}"#, "api", "patch", "/v1/orders/\(id)", "-d", "-")
            #expect(typed.status == 0 && typed.output.contains("Typed"))
            let missing = try await shop.command("api", "/v1/orders/none?refresh=false")
            #expect(missing.status == 66 && missing.output.contains("not_cached"))
            #expect(try await shop.command("api", "/v1/orders?nothing=1").status == 65)
            let condition = ["api", "PATCH", "/v1/orders/\(id)", "-d", #"{"notes": "x"}"#, "-H", "If-None-Match: *"]
            #expect(try await shop.run(condition).status == 75)
            #expect(try await shop.command("api", "/metrics").output.contains("repairminder_sync_build_info"))
        }
    }
}

extension Shop {
    /// Runs a subcommand with `text` as its standard input.
    fileprivate func typed(_ text: String, _ arguments: String...) async throws -> (status: Int32, output: String) {
        let program = try Program(
            "repairminder-sync", arguments + ["--config", "\(folder.path)/config.yaml"])
        try await program.type(text)
        try await program.endInput()
        return await program.finish()
    }
}
