import Glibc

/// Runs another program at this terminal.
enum ChildProcess {
    /// Waits until it ends; returns its exit status, 127 if there is no such program.
    ///
    /// Not Foundation's, which gives the program a process group of its own: an editor could not read the terminal then.
    static func run(_ words: [String]) -> Int32 {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for word in arguments { free(word) } }
        var pid: pid_t = 0
        guard posix_spawnp(&pid, words[0], nil, nil, &arguments, environ) == 0 else { return 127 }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        // WEXITSTATUS and WTERMSIG, which are macros.
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
