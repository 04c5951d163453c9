import CLinux
import Dispatch
import Glibc

/// Runs other programs.
///
/// They begin with no blocked signals and with the default handlers. The threads of Swift's pool block nearly all signals,
/// and a program would inherit that.
enum ChildProcess {
    /// How a program ended: its exit status, or the signal.
    struct End: Sendable {
        var status: Int32
        var isSignal: Bool
    }

    /// Why a program could not be started, in the system's words.
    struct StartFailure: Error {
        let reason: String
    }

    /// Runs a program at this terminal and waits until it ends; returns its exit status, 127 if there is no such program.
    ///
    /// Not Foundation's, which gives the program a process group of its own: an editor could not read the terminal then.
    static func run(_ words: [String]) -> Int32 {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        var pid: pid_t = 0
        guard posix_spawnp(&pid, words[0], nil, &attributes, &arguments, environ) == 0 else { return 127 }
        let end = waited(for: pid)
        return end.isSignal ? 128 + end.status : end.status
    }

    /// Starts a program in a process group of its own, without input; its output goes to this process's standard error.
    /// The first word is its path. Use `end` to wait for it.
    static func start(_ words: [String], environment: [String: String]) throws(StartFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        clinux_spawn_closefrom(&actions, 3)
        var attributes = Self.attributes(POSIX_SPAWN_SETPGROUP)
        defer { posix_spawnattr_destroy(&attributes) }
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw StartFailure(reason: String(cString: strerror(code))) }
        return pid
    }

    /// Waits for a program's end, on no thread of Swift's pool.
    static func end(of pid: pid_t) async -> End {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: waited(for: pid)) }
        }
    }

    private static func waited(for pid: pid_t) -> End {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return End(status: 127, isSignal: false) }
        }
        // WTERMSIG and WEXITSTATUS, which are macros.
        let signal = status & 0x7F
        return signal == 0 ? End(status: (status >> 8) & 0xFF, isSignal: false) : End(status: signal, isSignal: true)
    }

    private static func attributes(_ others: Int32 = 0) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | others))
        return attributes
    }
}
