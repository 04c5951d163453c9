import Foundation
import TestSupport
import Testing

/// Commands of the documentation that people run as root, on files that the daemon's user controls.
@Suite("Documented commands") struct DocumentedCommandTests {
    /// The lines of all pages, each with the name of its page.
    private func lines() throws -> [(page: String, text: Substring)] {
        let folder = ProjectFiles.root.appending(path: "docs").path
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).map { "docs/\($0)" }
        let pages = ["README.md", "SECURITY.md"] + names.filter { $0.hasSuffix(".md") }.sorted()
        return try pages.flatMap { page in
            try ProjectFiles.text(page).split(separator: "\n").map { (page: page, text: $0) }
        }
    }

    @Test("sqlite3 is always run with -safe, because the file has SQL of its own")
    func sqlite() throws {
        let calls = try lines().filter { $0.text.contains(/sqlite3 +(-|\S*\.db|<)/) }
        #expect(calls.count >= 5)
        for call in calls { #expect(call.text.contains("sqlite3 -safe -readonly"), "\(call.page): \(call.text)") }
    }

    @Test("no copy of the database is made where other users, or other daemons with the group, can read it")
    func copies() throws {
        #expect(try !lines().contains { $0.text.contains("install -g repairminder") })
        let calls = try lines().filter { $0.text.contains("litestream restore -o") }
        #expect(calls.count >= 2)
        for call in calls { #expect(!call.text.contains(" /tmp/"), "\(call.page): \(call.text)") }
    }

    @Test("no script for cron has an id, which others choose, as a path or where a flag could be")
    func ids() throws {
        let calls = try lines().filter { $0.page == "docs/guides/scripts-and-cron.md" && $0.text.contains("$id") }
        #expect(calls.count >= 4)
        for call in calls {
            #expect(!call.text.contains("/$id") && !call.text.contains("echo"), "\(call.page): \(call.text)")
            if call.text.contains("repairminder-sync ") {
                #expect(call.text.contains(" -- \"$id\""), "\(call.page): \(call.text)")
            }
        }
    }

    /// Commands that cannot be led elsewhere, whatever is in the directory.
    private static let harmless = [
        "sudo sqlite3 -safe -readonly /var/lib/repairminder-sync/current.db ",
        "sudo dd iflag=nofollow bs=4k count=1 status=none if=/var/lib/repairminder-sync/api-token",
        // These do not follow links.
        "sudo tar -C /var/lib/private ",
        "sudo rm -r /var/lib/private/repairminder-sync",
        "sudo rm /var/lib/repairminder-sync/secret.key",
        "sudo find /var/lib/repairminder-sync/ -perm /077",
        "sudo du -ah --max-depth=1 /var/lib/private/repairminder-sync | cat -v",
    ]

    @Test("root touches nothing in the state directory by a command that follows links")
    func stateDirectory() throws {
        let calls = try lines().filter { line in
            line.text.contains("sudo ")
                && line.text.contains(/\/var\/lib\/(private|repairminder-sync)|<state_dir>/)
        }
        #expect(!calls.isEmpty)
        for call in calls {
            #expect(Self.harmless.contains { call.text.contains($0) }, "\(call.page): \(call.text)")
        }
        #expect(try !lines().contains { $0.text.contains("sudo sh -c") || $0.text.contains("sudo bash -c") })
    }
}
