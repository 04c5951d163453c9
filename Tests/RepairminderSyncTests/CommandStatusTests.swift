import ArgumentParser
import Foundation
import LocalAPI
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct CommandStatusTests {
    @Test(
        "each answer has its exit status",
        arguments: [
            (400, 65), (422, 65), (405, 65), (404, 66), (410, 66), (409, 75), (412, 75), (429, 75), (502, 75),
            (503, 75),
            (401, 77), (403, 77), (500, 70),
        ] as [(Int, Int32)])
    func statuses(http: Int, exit: Int32) {
        #expect(CommandStatus(.problem(LocalAPIProblem(status: http, title: "x"))).rawValue == exit)
    }

    @Test("a daemon that is not there is 69, an odd answer 70, a bad configuration 78")
    func others() {
        #expect(CommandFailure(any: LocalAPIError.unreachable("x"))?.status.rawValue == 69)
        #expect(CommandFailure(any: LocalAPIError.unexpected("x"))?.status.rawValue == 70)
        #expect(
            CommandFailure(any: ConfigurationError(place: "a:1", problem: "b"))
                == CommandFailure(.badConfiguration, "a:1: b"))
        #expect(CommandFailure(any: ValidationError("x")) == nil)
    }

    @Test("a problem is told with the fields that its detail does not name")
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

    @Test("every exit status stands in docs/cli.md", arguments: CommandStatus.allCases)
    func documentation(status: CommandStatus) throws {
        let page = try ProjectFiles.text("docs/cli.md")
        #expect(page.contains("| \(status.rawValue) | \(status.meaning)"))
    }

    @Test(
        "flags that exclude each other are refused",
        arguments: [
            ["pending", "--count", "--retry", "1"], ["pending", "--cascade"], ["queue", "show", "1", "--count"],
            ["queue", "edit", "1"], ["queue", "discard"], ["conflicts", "1", "--open"], ["list", "orders", "status"],
            ["list", "orders", "--limit", "0"], ["status", "--socket", "a", "--address", "b"], ["set", "orders"],
        ])
    func usage(arguments: [String]) {
        #expect(throws: (any Error).self) { try RepairminderSync.parseAsRoot(arguments) }
    }
}
