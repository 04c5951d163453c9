import Foundation
import JSONText
import Testing

/// What people do at the command line, with the built commands.
@Suite("Everyday commands", .serialized)
struct EveryDayCommandsTests {
    private struct Order {
        var id: String
        var number: String
    }

    private func order(_ shop: Shop) async throws -> Order {
        let list = try await shop.call("GET", "/v1/orders?status=ready&limit=1").body
        let record = try #require(list["data"]?.elements.first)
        return Order(id: record["id"]?.plain ?? "", number: record["order_number"]?.plain ?? "")
    }

    private func write(_ text: String, to name: String, _ shop: Shop) throws -> String {
        let file = shop.folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func edit(_ shop: Shop, _ number: String, _ script: String) async throws -> (status: Int32, output: String)
    {
        try await startEditing(shop, number, script).finish()
    }

    private func startEditing(_ shop: Shop, _ number: String, _ script: String) throws -> Program {
        let editor = try write("#!/bin/sh\n\(script)\n", to: "editor", shop)
        try #require(chmod(editor, 0o700) == 0)
        return try Program(
            "repairminder-sync", ["edit", "orders", number, "--config", "\(shop.folder.path)/config.yaml"],
            environment: ["VISUAL": editor, "TMPDIR": shop.folder.path])
    }

    private static let perl = "/usr/bin/perl"
    private static let hasPerl = FileManager.default.isExecutableFile(atPath: perl)

    @Test(
        "edit sees how the editor ended, also under a parent that ignores SIGCHLD",
        .enabled(if: hasPerl, "a shell does not ignore SIGCHLD"), .timeLimit(.minutes(10)))
    func ignoredChildren() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let editor = try write("#!/bin/sh\nexit 0\n", to: "editor", shop)
            try #require(chmod(editor, 0o700) == 0)
            let order = try await order(shop).number
            let command = Program.products.appending(path: "repairminder-sync").path
            let edit = try Program(
                URL(filePath: Self.perl),
                [
                    "-e", "$SIG{CHLD} = 'IGNORE'; exec @ARGV", command, "edit", "orders", order,
                    "--config", "\(shop.folder.path)/config.yaml",
                ],
                environment: ["VISUAL": editor, "TMPDIR": shop.folder.path])
            let (status, output) = await edit.finish()
            #expect(status == 0 && output.contains("nothing sent"), "\(output)")
        }
    }

    @Test("edit sends only what was changed, and after a mistake opens the editor again", .timeLimit(.minutes(10)))
    func editing() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let order = try await order(shop)
            // As an editor that keeps the former version.
            let same = try await edit(
                shop, order.number, "cp \"$1\" \"$1~\"; stat -c %a \"$1\" \"${1%/*}\" >\"$TMPDIR/modes\"")
            #expect(same.status == 0 && same.output.contains("nothing sent"), "\(same.output)")
            let empty = try await edit(shop, order.number, "truncate -s 0 \"$1\"")
            #expect(empty.status == 0 && empty.output.contains("nothing sent"), "\(empty.output)")
            #expect(try await edit(shop, order.number, "exit 3").status == 2)
            #expect(try await shop.call("GET", "/v1/pending/count").body["pending"]?.integer == 0)
            // The first answer is refused, the second sees the message.
            let script = """
                if grep -q '^#! status' "$1"; then sed -i 's/^status: .*/status: collected/' "$1"
                else sed -i 's/^status: .*/status: lost/' "$1"; fi
                """
            let changed = try await edit(shop, order.number, script)
            #expect(changed.status == 0 && changed.output.contains("status: ready → collected"), "\(changed.output)")
            #expect(try await shop.call("GET", "/v1/orders/\(order.id)").body["status"] == "collected")
            #expect(try String(contentsOfFile: "\(shop.folder.path)/modes", encoding: .utf8) == "600\n700\n")
            let names = try FileManager.default.contentsOfDirectory(atPath: shop.folder.path)
            #expect(!names.contains { $0.hasPrefix("repairminder-sync-") })
        }
    }

    @Test("a signal that ends edit removes the file, and Ctrl-C is for the editor", .timeLimit(.minutes(10)))
    func interrupting() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let order = try await order(shop)
            // The editor ends when its file is gone, when it is told to, or after ten seconds.
            let done = "\(shop.folder.path)/done"
            let script = """
                echo editing
                for _ in $(seq 100); do
                    [ -e "$1" ] || exit 0
                    [ ! -e "\(done)" ] || { sleep 1; exit 0; }
                    sleep 0.1
                done
                """
            for signal in [SIGHUP, SIGTERM] {
                let ended = try startEditing(shop, order.number, script)
                _ = try await ended.line(containing: "editing")
                await ended.signal(signal)
                #expect(await ended.finish().status == 128 + signal)
            }
            let kept = try startEditing(shop, order.number, script)
            _ = try await kept.line(containing: "editing")
            await kept.signal(SIGINT)
            _ = try write("", to: "done", shop)
            let result = await kept.finish()
            #expect(result.status == 0 && result.output.contains("nothing sent"), "\(result.output)")
            let names = try FileManager.default.contentsOfDirectory(atPath: shop.folder.path)
            #expect(!names.contains { $0.hasPrefix("repairminder-sync-") })
        }
    }

    @Test("a paused daemon keeps changes, which diff shows, and sends them after resume", .timeLimit(.minutes(10)))
    func pausing() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let order = try await order(shop)
            #expect(try await shop.command("pause").status == 0)
            #expect(try await shop.command("set", "orders", order.number, "status=collected").status == 0)
            let diff = try await shop.command("diff", "orders", order.number)
            #expect(diff.output.contains("orders\t\(order.id)\tstatus\tready\tcollected"), "\(diff.output)")
            #expect(try await shop.command("diff", "clients").output == "no differences")
            let unknown = try await shop.command("diff", "orders", "none")
            #expect(unknown.status == 66 && unknown.output.contains("orders/none"), "\(unknown.output)")
            #expect(try await shop.command("resume").status == 0)
            #expect(try await shop.command("queue", "retry", "all").status == 0)
            #expect(try await shop.command("sync", "--wait").status == 0)
            #expect(try await shop.command("pending", "--count").output == "0")
        }
    }

    @Test("an import creates and updates, reports lines, and creates nothing twice", .timeLimit(.minutes(10)))
    func importing() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let order = try await order(shop)
            let client = try #require(
                try await shop.call("GET", "/v1/clients?limit=1").body["data"]?.elements.first?["id"]?.string)
            let rows = """
                {"client_id":"\(client)","total":12.75}
                {"order_number":\(order.number),"notes":"imported"}
                {"id":"\(order.id)","status":"lost"}
                """
            let file = try write(rows, to: "orders.ndjson", shop)
            let dry = try await shop.command("import", "orders", file, "--dry-run")
            #expect(
                dry.status == 65 && dry.output.contains("would create 1, would update 1, failed 1"), "\(dry.output)")
            for counts in [
                "created 1, updated 1, failed 1\n", "created 0, updated 1, failed 1, already imported 1\n",
            ] {
                let done = try await shop.command("import", "orders", file)
                #expect(done.status == 65 && done.output.contains("line 3: "), "\(done.output)")
                #expect(done.output.contains(counts), "\(done.output)")
            }
            #expect(try await shop.call("GET", "/v1/orders/order_number:\(order.number)").body["notes"] == "imported")
            let made = try await shop.call("GET", "/v1/orders?total=12.75&count=true").body
            #expect(made["total"]?.integer == 1, "\(made.text)")
        }
    }

    @Test(
        "tables are separated by tabs without a terminal, with the columns that are asked for", .timeLimit(.minutes(10))
    )
    func tables() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            let order = try await order(shop)
            let list = try await shop.command("list", "orders", "id=\(order.id)", "--columns", "order_number,status")
            #expect(list.output.hasSuffix("\(order.number)\tready\tsynced"), "\(list.output)")
            let status = try await shop.command("status", "--columns", "entity,rows")
            #expect(status.output.contains("entity\trows"), "\(status.output)")
            #expect(try await shop.command("status", "--columns", "colour").status == 2)
            #expect(try await shop.command("statsu").status == 2)
        }
    }
    @Test("the columns of a CSV file are those of the daemon's schema, wherever it is", .timeLimit(.minutes(10)))
    func exporting() async throws {
        try await Shop.with("repairminder") { shop in
            #expect(try await shop.command("sync", "--wait").status == 0)
            // Without a configuration, which would have another schema.
            let place = ["--socket", "\(shop.folder.path)/api.sock"]
            let arguments = ["export", "devices", "--format", "csv"] + place
            let (status, output) = try await Program.run("repairminder-sync", arguments)
            let header = output.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
            #expect(status == 0 && header.hasPrefix("id,"), "\(output.prefix(300))")
            #expect(header.contains("diagnosis") && !header.contains("passcode"), "\(header)")
            let marked = try await Program.run("repairminder-sync", arguments + ["--bom"]).output
            #expect(marked.utf8.elementsEqual("\u{FEFF}\(output)".utf8), "\(marked.prefix(300))")
            let unknown = try await Program.run("repairminder-sync", ["export", "devcies", "--format", "csv"] + place)
            #expect(unknown.status == 66 && unknown.output.contains("did you mean devices?"), "\(unknown.output)")
        }
    }
}
