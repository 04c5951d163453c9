import CLinux
import Foundation
import Glibc
import Synchronization
import Testing

@testable import Pictures

/// What code in a decoder that an attacker has taken over can still do.
@Suite("A compromised decoder", .serialized)
struct ConfinementTests {
    /// Runs `body` on a thread of its own that has given up its rights, as the thumbnail process does.
    private func confined<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        Thread.detachNewThread {
            if ThumbnailProcess.confine() {
                let value = body()
                outcome.value.withLock { $0 = value }
            }
            outcome.isReady.signal()
        }
        outcome.isReady.wait()
        return try #require(outcome.value.withLock { $0 })
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let isReady = DispatchSemaphore(value: 0)
    }

    @Test("it can compute, allocate, and read and write what is open")
    func allowed() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        let count = try confined {
            var bytes = [UInt8](repeating: 7, count: 32 << 20)
            bytes[1] = 8
            var read: [UInt8] = [0, 0]
            return write(output, bytes, 2) == 2 && Glibc.read(input, &read, 2) == 2 ? read : []
        }
        #expect(count == [7, 8])
        ends.forEach { close($0) }
    }

    @Test("it cannot open, connect, start a process, signal, look into other processes or make memory executable")
    func denied() throws {
        let parent = getppid()
        let errors = try confined { () -> [String: Int32] in
            var errors: [String: Int32] = [:]
            func attempt(_ name: String, _ call: () -> Int) {
                errno = 0
                errors[name] = call() < 0 ? errno : 0
            }
            attempt("open") { Int(open("/etc/passwd", O_RDONLY)) }
            attempt("open a file of its own") { Int(open("/proc/self/maps", O_RDONLY)) }
            attempt("socket") { Int(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) }
            attempt("Unix socket") { Int(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) }
            attempt("fork") { clinux_syscall4(Int(SYS_clone), Int(SIGCHLD), 0, 0, 0) }
            attempt("exec") { clinux_syscall4(Int(SYS_execve), 0, 0, 0, 0) }
            attempt("kill") { Int(kill(parent, 0)) }
            attempt("ptrace") { clinux_syscall4(Int(SYS_ptrace), 0, 0, 0, 0) }
            attempt("unlink") { Int(unlink("/nowhere")) }
            attempt("limits") {
                var limit = rlimit(rlim_cur: 1, rlim_max: 1)
                return Int(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit))
            }
            attempt("executable memory") {
                mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0
            }
            return errors
        }
        #expect(errors.count == 11)
        for (name, error) in errors { #expect(error == EPERM, "\(name)") }
    }
}
