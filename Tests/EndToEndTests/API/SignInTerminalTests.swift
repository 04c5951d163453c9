import Foundation
import TestSupport
import Testing

/// `login` at a terminal.
@Suite("Signing in at a terminal")
struct SignInTerminalTests {
    @Test(
        "a signal that ends login while a secret is typed leaves a terminal that shows what is typed",
        .timeLimit(.minutes(10)), arguments: [("HUP", 129), ("INT", 130), ("TERM", 143)])
    func killed(_ signal: String, status: Int) async throws {
        let folder = try TemporaryFolder()
        let program = Program.products.appending(path: "repairminder-sync").path
        let login =
            "timeout --foreground -s KILL 300 '\(program)' login --schema repairminder-live "
            + "--upstream.base-url http://127.0.0.1:1 --state-dir '\(folder.path("state"))'"
        // The terminal is asked until its echo is off; it is not if login has ended before. `timeout` hands the signal on, and
        // ends a login that does not heed it.
        let script = """
            \(login) </dev/tty &
            while kill -0 $! && ! stty -a </dev/tty | grep -q -e ' -echo '; do :; done
            kill -s \(signal) $!; wait $!; echo "ended with $?"; stty -a </dev/tty
            """
        let terminal = try Program(URL(filePath: "/usr/bin/script"), ["-qec", script, "/dev/null"])
        try await terminal.type("ada@example.org")
        let (_, output) = await terminal.finish()
        #expect(output.contains("ended with \(status)"), "\(output)")
        #expect(output.contains(" echo ") && !output.contains(" -echo "), "\(output)")
    }
}
