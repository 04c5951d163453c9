import Foundation
import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Programs of hooks and reminders")
struct ProgramFileTests {
    private let folder: TemporaryFolder
    private let program: String

    init() throws {
        folder = try TemporaryFolder()
        program = try folder.write("#!/bin/sh\n", to: "bin/deep/notify")
        try change(program, 0o755)
        for path in ["bin", "bin/deep"] { try change(folder.path(path), 0o755) }
    }

    private func change(_ path: String, _ mode: mode_t) throws { try #require(chmod(path, mode) == 0) }

    private func refusal(_ path: String) -> String? { ProgramFile(path: path).refusal }

    @Test("may be changed by its owner and group, and need not be there yet")
    func allowed() throws {
        #expect(refusal(program) == nil)
        try change(program, 0o775)
        try change(folder.path("bin"), 0o775)
        #expect(refusal(program) == nil)
        #expect(refusal(folder.path("bin/missing")) == nil)
    }

    @Test("are refused when every user can change the file, with the command that repairs it")
    func file() throws {
        try change(program, 0o757)
        #expect(refusal(program) == "other users can change the program \(program); run chmod o-w \(program)")
    }

    @Test("are refused when every user can replace a file on their path, unless its folder is sticky")
    func folders() throws {
        let bin = folder.path("bin")
        try change(bin, 0o777)
        #expect(
            refusal(program)
                == "other users can change files in \(bin), and so the program \(program); run chmod o-w \(bin)")
        try change(bin, 0o1777)
        #expect(refusal(program) == nil)
    }

    @Test("are refused so also if a name on their path begins with a combining mark")
    func marks() throws {
        let program = try folder.write("#!/bin/sh\n", to: "open/\u{301}deep/notify")
        for path in [program, folder.path("open/\u{301}deep")] { try change(path, 0o755) }
        try change(folder.path("open"), 0o777)
        #expect(refusal(program)?.hasPrefix("other users can change files in \(folder.path("open")), ") == true)
    }

    @Test("are refused in a sticky folder when another user could make them")
    func missing() throws {
        let deep = folder.path("bin/deep")
        try change(deep, 0o1777)
        #expect(
            refusal("\(deep)/missing")
                == "other users can put another program in place of \(deep)/missing; move \(deep)/missing to a folder that only"
                + " root or the daemon's user can change")
        try #require(symlink("/bin/true", "\(deep)/link") == 0)
        #expect(refusal("\(deep)/link") == nil)
    }

    @Test("are refused in a sticky folder when another user has made them", .enabled(if: geteuid() == 0))
    func foreign() throws {
        let deep = folder.path("bin/deep")
        try change(deep, 0o1777)
        try #require(chown(program, 65_533, 65_533) == 0)
        #expect(
            refusal(program)?.hasPrefix("other users can put another program in place of \(program); move ") == true)
        #expect(ProgramFile(path: program, trusted: [65_533]).refusal == nil)
        try #require(chown(deep, 65_533, 65_533) == 0)
        #expect(refusal(program) == nil)
    }

    @Test("are found through links, whose own folders count too")
    func links() throws {
        let open = folder.path("open")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        try change(open, 0o777)
        try #require(symlink("../bin/deep", folder.path("open/link")) == 0)
        try #require(symlink("open/link/notify", folder.path("notify")) == 0)
        #expect(refusal(folder.path("notify"))?.hasSuffix("run chmod o-w \(open)") == true)
        try change(open, 0o755)
        #expect(refusal(folder.path("notify")) == nil)
        try change(program, 0o777)
        #expect(refusal(folder.path("notify"))?.hasSuffix("run chmod o-w \(program)") == true)
        try #require(symlink("loop", folder.path("loop")) == 0)
        #expect(refusal(folder.path("loop")) == nil)
    }

    @Test(
        "are checked with the configuration, and the error names the key",
        arguments: [
            ("reminders: { command: PROGRAM --urgent }", "reminders.command"),
            ("hooks: { label: { on: offline, command: PROGRAM } }", "hooks.label.command"),
        ])
    func configuration(yaml: String, key: String) throws {
        let schema = """
            schema: s
            upstream: { base_url: "http://localhost" }
            entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
            """
        try folder.write(schema, to: "s.yaml")
        let file = try folder.write("schema: ./s.yaml\n\(yaml.replacing("PROGRAM", with: program))", to: "config.yaml")
        let reader = SetupReader(path: file, flags: [:], environment: folder.environment())
        _ = try reader.setup()
        try change(program, 0o777)
        let error = #expect(throws: ConfigurationError.self) { try reader.setup() }
        #expect(error?.place.hasSuffix(key) == true)
        #expect(error?.problem.hasSuffix("run chmod o-w \(program)") == true)
    }
}
