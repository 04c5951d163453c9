import CLinux
import Foundation
import Glibc

/// Runs programs at this terminal, or for what they print.
///
/// They begin with no blocked signals and with the default handlers. The threads of Swift's pool block nearly all signals,
/// and a program would inherit that.
enum ChildProcess {
    /// How a program ended: its exit status, or the signal.
    struct End: Sendable {
        var status: Int32
        var isSignal: Bool
    }

    /// Runs a program at this terminal and waits until it ends; returns its exit status, 127 if there is no such program.
    ///
    /// Not Foundation's, which gives the program a process group of its own: an editor could not read the terminal then.
    static func run(_ words: [String]) async -> Int32 {
        guard let pid = start(words) else { return 127 }
        let result = await end(of: pid)
        return result.isSignal ? 128 + result.status : result.status
    }

    /// Runs a program without input, and returns what it prints; nil if it cannot be started.
    ///
    /// Starts no thread, unlike Foundation's: a command that is about to become another user has only one.
    static func output(of words: [String]) -> String? {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
        defer { close(ends[0]) }
        let pid = start(words, writingTo: ends[1])
        // Only the program may hold that end, or its exit would not close the pipe.
        close(ends[1])
        guard let pid else { return nil }
        let bytes = everything(from: ends[0])
        _ = waited(for: pid)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func everything(from input: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(input, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }

    /// With `output`, it has no input, and only that to write to.
    private static func start(_ words: [String], writingTo output: Int32? = nil) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        var arguments = words.map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        var pid: pid_t = 0
        return posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, environ) == 0 ? pid : nil
    }

    /// Waits for a program's end, on a thread that no task needs.
    private static func end(of pid: pid_t) async -> End {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: waited(for: pid)) }
        }
    }

    /// Blocks until it ends.
    static func waited(for pid: pid_t) -> End {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return End(status: 127, isSignal: false) }
        }
        // WTERMSIG and WEXITSTATUS, which are macros.
        let signal = status & 0x7F
        return signal == 0 ? End(status: (status >> 8) & 0xFF, isSignal: false) : End(status: signal, isSignal: true)
    }

    private static func attributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        return attributes
    }
}
