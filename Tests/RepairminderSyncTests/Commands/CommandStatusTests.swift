import ArgumentParser
import ContentStore
import Foundation
import JSONText
import LocalAPI
import SQLiteStore
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct CommandStatusTests {
    @Test(
        "each response maps to an exit status",
        arguments: [
            (400, 65), (422, 65), (405, 65), (404, 66), (410, 66), (409, 75), (412, 75), (429, 75), (502, 75),
            (503, 75),
            (401, 77), (403, 77), (500, 70),
        ] as [(Int, Int32)])
    func statuses(http: Int, exit: Int32) {
        #expect(CommandStatus(.problem(LocalAPIProblem(status: http, title: "x"))).rawValue == exit)
    }

    @Test("a change that others depend on cannot be discarded later either")
    func dependents() {
        let problem = LocalAPIProblem(status: 409, title: "x", code: "has_dependents")
        #expect(CommandStatus(.problem(problem)) == .badData)
    }

    @Test(
        "a 409 to any call ends with 75 only if trying again helps",
        arguments: [
            (409, "busy", .temporaryFailure), (409, "paused", .temporaryFailure), (409, "conflict", .badData),
            (409, "has_dependents", .badData), (200, nil, .done),
        ] as [(Int, String?, CommandStatus)])
    func anyCall(status: Int, code: String?, expected: CommandStatus) {
        #expect(CommandStatus(answering: status, code: code) == expected)
    }

    @Test("an unreachable daemon is 69, an unexpected response 70, an invalid configuration 78")
    func others() {
        #expect(CommandFailure(any: LocalAPIError.unreachable("x"))?.status.rawValue == 69)
        #expect(CommandFailure(any: LocalAPIError.unexpected("x"))?.status.rawValue == 70)
        #expect(
            CommandFailure(any: ConfigurationError(place: "a:1", problem: "b"))
                == CommandFailure(.badConfiguration, "a:1: b"))
        #expect(CommandFailure(any: ValidationError("x")) == nil)
        #expect(CommandFailure(any: CacheError.failed("x")) == nil)
        #expect(CommandFailure(any: ContentError.failed("disk full"))?.status.rawValue == 75)
    }

    @Test("a file that cannot be written is 75 on a full disk, otherwise 2")
    func unwritable() {
        let full = CommandFailure.unwritable("shop.yaml", CocoaError(.fileWriteOutOfSpace))
        #expect(full.status == .temporaryFailure && full.message.contains("shop.yaml: the disk is full"))
        #expect(CommandFailure.unwritable("shop.yaml", CocoaError(.fileWriteNoPermission)).status == .usage)
        let lost = CommandFailure.unwritable("no/shop.yaml", CocoaError(.fileNoSuchFile))
        #expect(lost.status == .usage && lost.message.contains("its folder does not exist"))
    }

    @Test("a problem's texts stay on their lines: a compromised daemon must not write messages in this program's name")
    func lines() {
        let problem = LocalAPIProblem(
            status: 422, title: "x", detail: "bad\nrepairminder-sync: updated\r\n",
            errors: [.init(field: "a\nb", message: "c\u{2028}repairminder-sync: ok")])
        #expect(
            CommandFailure(.problem(problem)).message
                == "bad repairminder-sync: updated  \n  a b: c repairminder-sync: ok")
        #expect(ImportPlan.Failure(line: 1, message: "bad\nline 2: ok").message == "bad line 2: ok")
    }

    @Test("what a file has stays on the line of its message: its author must not write messages in this program's name")
    func linesOfFiles() {
        let text = "backup.db has the table x\nrepairminder-sync: restored"
        for error in [CacheError.incompatible(text), .damaged(text), .unwritable(text)] {
            #expect(CommandFailure(any: error)?.message == "backup.db has the table x repairminder-sync: restored")
        }
        let problems = [
            FieldProblem(field: "orders/a\nrepairminder-sync", message: "imported\u{2028}"),
            FieldProblem(field: "b", message: "c"),
        ]
        let reasons = "orders/a repairminder-sync: imported ; b: c"
        #expect(CommandFailure(any: CacheError.invalid(problems)) == CommandFailure(.badData, reasons))
        #expect(CommandFailure.invalid(problems, in: "queue").message == "queue: \(reasons)")
    }

    @Test("a problem's message includes the fields that its detail does not mention")
    func message() {
        let problem = LocalAPIProblem(
            status: 422, title: "Unprocessable content", detail: "a: is wrong",
            errors: [.init(field: "a", message: "is wrong"), .init(field: "b", message: "is missing")])
        #expect(CommandFailure(.problem(problem)).message == "a: is wrong\n  b: is missing")
        let repeated = LocalAPIProblem(
            status: 400, title: "x", detail: "no field a", errors: [.init(field: "a", message: "no field a")])
        #expect(CommandFailure(.problem(repeated)).message == "no field a")
        #expect(CommandFailure(.problem(LocalAPIProblem(status: 503, title: "Unavailable"))).message == "unavailable")
    }

    @Test("with --json an error is the daemon's problem document, or one of the same members")
    func document() throws {
        let sent = try JSONText(parsing: #"{"title":"Not found","status":404,"code":"not_cached","more":1}"#)
        let problem = LocalAPIProblem(status: 404, title: "Not found", code: "not_cached", document: sent)
        #expect(CommandFailure(.problem(problem)).document == sent)
        let other = CommandFailure(.unreachable("no daemon")).document
        #expect(other["code"] == "daemon_unreachable" && other["detail"] == "no daemon")
        #expect(RepairminderSync.wantsJSON(["get", "orders", "--json"]))
        #expect(!RepairminderSync.wantsJSON(["set", "orders", "a", "--", "--json"]))
    }

    /// What a command line that cannot be parsed prints.
    private func mistake(_ arguments: [String]) throws -> (status: CommandStatus, text: String) {
        if let text = CommandNames.mistake(in: arguments, of: RepairminderSync.self) {
            return RepairminderSync.ending(with: CommandFailure(.usage, text), arguments)
        }
        let error = #expect(throws: (any Error).self) { try RepairminderSync.parseAsRoot(arguments) }
        return RepairminderSync.ending(with: try #require(error), arguments)
    }

    @Test(
        "with --json a mistake on the command line is an object like every other error, on one line",
        arguments: [
            (["status", "--bogus", "--json"], "Unknown option '--bogus'"),
            (["get", "--json"], "Missing expected argument '<entity>'"),
            (["list", "orders", "--limit", "x", "--json"], "The value 'x' is invalid"),
            (["statsu", "--json"], "there is no command statsu; did you mean status?"),
            (["queue", "retri", "--json"], "did you mean queue retry?"),
            (["queue", "show", "1", "--count", "--json"], "--count takes no id"),
        ])
    func usageDocument(arguments: [String], detail: String) throws {
        let ending = try mistake(arguments)
        #expect(ending.status == .usage && !ending.text.contains("\n"))
        let document = try JSONText(parsing: ending.text)
        #expect(document["title"] == "invalid command line" && document["code"] == "usage")
        #expect(document["detail"]?.string?.contains(detail) == true, "\(ending.text)")
    }

    @Test("without --json it is text with the usage")
    func usageText() throws {
        let ending = try mistake(["status", "--bogus"])
        #expect(ending.status == .usage && ending.text.hasPrefix("Error: Unknown option '--bogus'\nUsage: "))
        #expect(try mistake(["statsu"]).text == "repairminder-sync: there is no command statsu; did you mean status?")
    }

    @Test(
        "the usage has at most 80 columns, and no part of it is torn apart",
        arguments: ["list", "set", "export", "feed"])
    func narrowUsage(_ command: String) throws {
        let help = try #require(
            #expect(throws: (any Error).self) {
                var help = try RepairminderSync.parseAsRoot([command, "--help"])
                try help.run()
            })
        for text in [RepairminderSync.ending(with: help, []).text, try mistake([command, "--bogus"]).text] {
            let lines = text.split(separator: "\n").map(String.init)
            let first = try #require(lines.firstIndex { $0.lowercased().hasPrefix("usage: ") })
            let usage = lines[first...].prefix { $0 == lines[first] || $0.hasPrefix("    ") }
            #expect(usage.count > 1 && usage.allSatisfy { $0.count <= 80 }, "\(usage)")
            #expect(usage.allSatisfy { line in line.count { $0 == "[" } == line.count { $0 == "]" } }, "\(usage)")
        }
    }

    @Test("a file for which there is no argument is said to need a flag")
    func fileWithoutFlag() throws {
        let flags = "--config shop.yaml, or --schema shop.yaml if it is a schema"
        let advice = "Unexpected argument 'shop.yaml'; write \(flags)"
        #expect(try mistake(["check-config", "shop.yaml"]).text.contains(advice))
        #expect(try JSONText(parsing: mistake(["status", "shop.yaml", "--json"]).text)["detail"]?.string == advice)
        #expect(try !mistake(["status", "orders"]).text.contains("--schema"))
    }

    @Test(
        "a mistyped flag is reported, and not its value, which is no filter",
        arguments: [["list", "orders", "--limt", "5"], ["export", "orders", "--format", "csv", "--srt", "id"]])
    func flagBeforeFilters(arguments: [String]) throws {
        let ending = try mistake(arguments)
        #expect(ending.text.hasPrefix("Error: Unknown option '--"), "\(ending.text)")
    }

    @Test(
        "a negative number is a value, of which the message says what is expected",
        arguments: [
            (["events", "--since", "-1"], "expected a sequence number"),
            (["demo", "--rows", "-1"], "expected at least 1"),
            (["list", "orders", "--limit", "-5"], "expected a number from 1"),
            (["search", "x", "--limit", "-5"], "expected a number from 1"),
        ])
    func negativeNumber(arguments: [String], words: String) throws {
        #expect(try mistake(arguments).text.contains(words))
    }

    @Test("a setting without a value is reported by its own flag", arguments: [["demo"], ["generate", "swift"]])
    func settingWithoutValue(command: [String]) throws {
        #expect(try mistake(command + ["--setting", "a"]).text.hasPrefix("Error: --setting a: expected NAME=VALUE"))
    }

    @Test(
        "the help of a command that takes the flags of run shows its own, and not those 60",
        arguments: [["doctor"], ["backup"], ["database", "forget-key"], ["queue", "import"], ["bundle", "install"]])
    func briefHelp(command: [String]) throws {
        let help = try #require(
            #expect(throws: (any Error).self) {
                var help = try RepairminderSync.parseAsRoot(command + ["--help"])
                try help.run()
            })
        let text = RepairminderSync.ending(with: help, []).text
        #expect(text.contains("--config") && !text.contains("--sync.interval"), "\(text)")
        let file = ["doctor", "forget-key"].contains(command.last) ? [] : ["FILE"]
        #expect(throws: Never.self) {
            try RepairminderSync.parseAsRoot(command + file + ["--sync.interval", "3m"])
        }
    }

    @Test("the help lists every command in a group, and says how to see more of one")
    func groups() throws {
        let help = try #require(
            #expect(throws: (any Error).self) {
                var help = try RepairminderSync.parseAsRoot(["--help"])
                try help.run()
            })
        let text = RepairminderSync.ending(with: help, []).text
        for group in ["DAEMON", "SYNC", "QUEUE", "RECORD"] { #expect(text.contains("\n\(group) SUBCOMMANDS:\n")) }
        #expect(!text.contains("\nSUBCOMMANDS:") && text.contains("See 'repairminder-sync help <subcommand>'"))
    }

    @Test("docs/cli.md documents every exit status and its code", arguments: CommandStatus.allCases)
    func documentation(status: CommandStatus) throws {
        let lines = try ProjectFiles.text("docs/cli.md").split(separator: "\n")
        let line = lines.first { $0.hasPrefix("| \(status.rawValue) | \(status.meaning)") }
        #expect(line?.contains("`\(status.code)`") == ![.done, .foundError].contains(status))
    }

    @Test(
        "flags that exclude each other, missing arguments and unusable values are rejected",
        arguments: [
            ["pending", "--count", "--retry", "1"], ["pending", "--cascade"], ["queue", "show", "1", "--count"],
            ["queue", "edit", "1"], ["queue", "discard"], ["conflicts", "1", "--open"],
            ["list", "orders", "--limit", "0"], ["status", "--socket", "a", "--address", "b"], ["set", "orders"],
            ["reminders", "--snooze", "1", "--for", "10"], ["init", "--probe", "https://a.example/b", "--auth", "foo"],
            ["export", "orders", "--format", "ndjson", "--bom"],
        ])
    func usage(arguments: [String]) {
        #expect(throws: (any Error).self) { try RepairminderSync.parseAsRoot(arguments) }
    }
}
