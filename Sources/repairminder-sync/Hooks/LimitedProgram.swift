import CLinux
import Foundation
import Glibc
import Synchronization
import SystemCalls

/// Runs a program that someone else wrote: never through a shell, with limits, and with an end.
///
/// It runs in a process group of its own, which is killed when the time is up and after the program has ended. So of what
/// it started, only a process that has left the group stays.
struct LimitedProgram: Sendable {
    enum End: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
        case tookTooLong
    }

    /// The program's path, then its arguments.
    let words: [String]
    let environment: [String: String]
    /// Its standard input.
    var input: [UInt8] = []
    let deadline: Duration
    /// In bytes; nil for no limit.
    let memory: Int?
    /// Takes each line of its standard output and error; see `ProgramOutput` for the limits.
    let report: @Sendable (_ line: String) -> Void

    /// Throws `SystemError` when it cannot be started, and `CancellationError` when the task is cancelled; then it is
    /// killed.
    func run(clock: any Clock<Duration>) async throws -> End {
        let running = try start()
        let watchdog = Task { [deadline] in
            try await clock.sleep(for: deadline)
            running.kill()
        }
        let end = await withTaskCancellationHandler {
            await running.end()
        } onCancel: {
            running.kill()
        }
        watchdog.cancel()
        try Task.checkCancellation()
        guard end.isSignal else { return .exited(end.status) }
        // It has a result only if it was not cancelled, which means that the time was up.
        if case .success = await watchdog.result { return .tookTooLong }
        return .signalled(end.status)
    }

    private func start() throws(SystemError) -> RunningProgram {
        let file = try inputFile()
        defer { close(file) }
        var output: [Int32] = [-1, -1]
        guard clinux_pipe2(&output, O_CLOEXEC) == 0 else { throw .last }
        // Held open here, the output would never end.
        defer { close(output[1]) }
        _ = fcntl(output[0], F_SETFL, O_NONBLOCK)
        // It may gain no rights, as by `sudo`.
        var limits = clinux_program_limits(
            no_new_privileges: 1, memory: UInt64(memory ?? 0),
            processor: UInt64(max(deadline.components.seconds, 0)) + 1)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        let pid = clinux_start_program(words[0], &arguments, &variables, file, output[1], &limits)
        guard pid > 0 else {
            close(output[0])
            throw SystemError(-pid)
        }
        return RunningProgram(pid: pid, output: ProgramOutput(output[0], report: report))
    }

    /// In memory: a pipe would need a writer for as long as the program reads.
    private func inputFile() throws(SystemError) -> Int32 {
        let file = clinux_memory_file()
        guard file >= 0 else { throw .last }
        guard Files.write(input, to: file) else {
            let reason = SystemError.last
            close(file)
            throw reason
        }
        lseek(file, 0, SEEK_SET)
        return file
    }
}

private final class RunningProgram: Sendable {
    private let pid: pid_t
    private let output: ProgramOutput
    /// Its id may belong to another process by now.
    private let isOver = Mutex(false)

    init(pid: pid_t, output: ProgramOutput) {
        self.pid = pid
        self.output = output
    }

    /// Kills it with everything that it started.
    func kill() {
        isOver.withLock { isOver in
            guard !isOver else { return }
            _ = Glibc.kill(-pid, SIGKILL)
            // It may itself have moved to another group of its session.
            _ = Glibc.kill(pid, SIGKILL)
        }
    }

    /// Waits for its end, on a thread that no task needs. Call this once.
    func end() async -> ChildProcess.End {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.waitForEnd()) }
        }
    }

    private func waitForEnd() -> ChildProcess.End {
        var output = self.output
        output.read { clinux_has_ended(pid) != 0 }
        clinux_await_end(pid)
        kill()
        output.finish()
        return isOver.withLock { isOver in
            isOver = true
            return ChildProcess.waited(for: pid)
        }
    }
}
