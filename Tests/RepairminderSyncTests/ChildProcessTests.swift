import CLinux
import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import repairminder_sync

@Suite("Programs that a command runs for what they print")
struct ChildProcessTests {
    @Test("only standard output is returned, also of a program that fails")
    func output() {
        let script = "echo listed; echo mistake >&2; cat; exit 3"
        #expect(ChildProcess.output(of: ["/bin/sh", "-c", script]) == "listed\n")
    }

    @Test("more than a pipe holds is returned")
    func long() {
        let text = ChildProcess.output(of: ["/bin/sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x"])
        #expect(text?.utf8.count == 300_000)
    }

    @Test("a program that does not exist returns nothing")
    func missing() {
        #expect(ChildProcess.output(of: ["/nonexistent/program"]) == nil)
    }

    @Test("where other programs are forbidden, none is started")
    func forbidden() throws {
        let outcome = Outcome()
        // On a thread of its own, which is never allowed to again.
        Thread.detachNewThread {
            let before = ChildProcess.output(of: ["/bin/echo", "before"])
            let isForbidden = clinux_forbid_programs() == 0
            let after = ChildProcess.output(of: ["/bin/echo", "after"])
            outcome.texts.withLock { $0 = isForbidden ? [before, after] : [] }
            outcome.isReady.signal()
        }
        outcome.isReady.wait()
        #expect(outcome.texts.withLock { $0 } == ["before\n", nil])
    }

    #if arch(x86_64)
        @Test("nor by the calls of x32, which have numbers of their own")
        func forbiddenNumbers() throws {
            let outcome = Outcome()
            Thread.detachNewThread {
                let isForbidden = clinux_forbid_programs() == 0
                // getpid, so that nothing happens where it is allowed.
                let isRefused = clinux_syscall4(0x4000_0000 + 39, 0, 0, 0, 0) == -1 && errno == EPERM
                outcome.texts.withLock { $0 = isForbidden && isRefused ? ["refused"] : [] }
                outcome.isReady.signal()
            }
            outcome.isReady.wait()
            #expect(outcome.texts.withLock { $0 } == ["refused"])
        }
    #endif

    @Test("nor is anything put into the input of a terminal, while other questions to it are allowed")
    func forbiddenTyping() throws {
        let outcome = Outcome()
        Thread.detachNewThread {
            let isForbidden = clinux_forbid_programs() == 0
            // Without a terminal, an allowed call fails with EBADF.
            let reasons = [TIOCSTI, 0x541C, TIOCGWINSZ].map { question in
                clinux_syscall4(Int(SYS_ioctl), -1, Int(question), 0, 0) == -1 ? errno : 0
            }
            outcome.texts.withLock { $0 = isForbidden ? reasons.map { "\($0)" } : [] }
            outcome.isReady.signal()
        }
        outcome.isReady.wait()
        #expect(outcome.texts.withLock { $0 } == [EPERM, EPERM, EBADF].map { "\($0)" })
    }

    private final class Outcome: Sendable {
        let texts = Mutex<[String?]>([])
        let isReady = DispatchSemaphore(value: 0)
    }
}
