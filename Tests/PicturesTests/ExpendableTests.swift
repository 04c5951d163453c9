import Foundation
import Glibc
import Testing

/// What happens when the machine runs out of memory while a picture is decoded.
@Suite("The process that decodes is killed first")
struct ExpendableTests {
    @Test("it has the highest OOM score")
    func score() throws {
        let program = ThumbnailerTests.program.path
        var child = pid_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("thumbnail"), strdup("64"), nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawn(&child, program, &actions, nil, &arguments, environ) == 0)
        // It has ended, and /proc shows it until it is waited for.
        var end = siginfo_t()
        try #require(waitid(P_PID, id_t(child), &end, WEXITED | WNOWAIT) == 0)
        let score = try String(contentsOfFile: "/proc/\(child)/oom_score_adj", encoding: .utf8)
        #expect(score == "1000\n")
        var status: Int32 = 0
        waitpid(child, &status, 0)
    }
}
