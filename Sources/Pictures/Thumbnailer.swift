internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization
internal import SystemCalls
internal import Turns

/// Makes thumbnails one at a time, for callers in turns, each in a separate process with limited resources.
///
/// A hostile picture can crash only that process.
package final class Thumbnailer: Sendable {
    /// The available sizes: the longest side in pixels.
    package static let sizes = [64, 128, 256, 512, 1024]

    package enum Failure: Error, Sendable, Equatable {
        /// The picture cannot have a thumbnail; trying again does not help.
        case problem(PictureProblem)
        /// Too many requests are waiting: try again later.
        case busy
        /// The process could not be started or failed, whatever the picture.
        case failed(String)
    }

    private let executable: String
    private let arguments: [String]
    private let limit: Duration
    private let queue = DispatchQueue(label: "thumbnails")
    private let waiting = Mutex(ServedTurns<String, @Sendable () -> Void>())
    /// Pictures without a possible thumbnail, so they are not tried again.
    private let hopeless = Mutex<[String: PictureProblem]>([:])
    private static let mostHopeless = 10_000
    private static let mostWaiting = 32
    /// Of these, so many are one caller's.
    private static let mostOfOne = 16
    /// Larger than a thumbnail of 1024 by 1024 pixels can be.
    private static let mostBytes = 8 << 20

    /// `executable`, called with `arguments` and a size, runs `ThumbnailProcess`.
    package init(executable: String, arguments: [String] = ["thumbnail"], limit: Duration = .seconds(30)) {
        self.executable = executable
        self.arguments = arguments
        self.limit = limit
    }

    /// The thumbnail of the picture in an open file, read from its start. `name` identifies the picture. Callers with different names
    /// take turns.
    package func thumbnail(
        of picture: Int32, named name: String, size: Int, for caller: String = ""
    ) async throws(Failure) -> [UInt8] {
        if let problem = hopeless.withLock({ $0[name] }) { throw .problem(problem) }
        let outcome = await withCheckedContinuation { continuation in
            let isWelcome = add(for: caller) { [self] in
                continuation.resume(returning: Result { () throws(Failure) in try make(picture, size) })
            }
            if !isWelcome { continuation.resume(returning: .failure(.busy)) }
        }
        if case .failure(.problem(let problem)) = outcome {
            hopeless.withLock { hopeless in
                if hopeless.count >= Self.mostHopeless { hopeless = [:] }
                hopeless[name] = problem
            }
        }
        return try outcome.get()
    }

    /// False, with nothing done, if too many wait.
    private func add(for caller: String, _ work: @escaping @Sendable () -> Void) -> Bool {
        let (isWelcome, isFirst) = waiting.withLock { waiting in
            guard waiting.turns.count < Self.mostWaiting, waiting.turns.count(of: caller) < Self.mostOfOne else {
                return (false, false)
            }
            return (true, waiting.add(work, for: caller))
        }
        if isFirst {
            queue.async { [self] in
                while let work = next() { work() }
            }
        }
        return isWelcome
    }

    private func next() -> (@Sendable () -> Void)? {
        waiting.withLock { waiting in waiting.goesOn() ? waiting.next() : nil }
    }

    private func make(_ picture: Int32, _ size: Int) throws(Failure) -> [UInt8] {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe2(&ends, O_CLOEXEC) == 0 else {
            throw .failed("no pipe for a thumbnail: \(SystemError.last)")
        }
        defer { close(ends[0]) }
        let started = Result { () throws(Failure) in try spawn(input: picture, output: ends[1], size) }
        // Only the process may hold that end, or its exit would not close the pipe.
        close(ends[1])
        let pid = try started.get()
        let (bytes, isInTime) = collect(from: ends[0])
        if !isInTime { kill(pid, SIGKILL) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        guard isInTime, status & 0x7F == 0 else { throw .problem(.tooLarge) }
        switch status >> 8 & 0xFF {
        case 0: return bytes
        case let code:
            guard let problem = PictureProblem(rawValue: code) else {
                throw .failed("the process that makes thumbnails ended with status \(code)")
            }
            throw .problem(problem)
        }
    }

    private func spawn(input: Int32, output: Int32, _ size: Int) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        clinux_spawn_closefrom(&actions, 3)
        var pid = pid_t()
        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments + [String(size)]).map { strdup($0) }
        words.append(nil)
        defer { words.forEach { free($0) } }
        // An empty environment, so a picture can reveal nothing of the daemon's.
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        let code = posix_spawn(&pid, executable, &actions, nil, words, &environment)
        guard code == 0 else { throw .failed("\(executable) could not be started: \(SystemError(code))") }
        return pid
    }

    /// Everything written until the other end is closed; false when the time or the size limit is exceeded.
    private func collect(from pipe: Int32) -> (bytes: [UInt8], isInTime: Bool) {
        let end = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= Self.mostBytes {
            var event = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            let rest = (end - .now) / .milliseconds(1)
            let ready = poll(&event, 1, Int32(max(rest, 0)))
            if ready == 0 { return (bytes, false) }
            let count = ready < 0 ? -1 : read(pipe, &piece, piece.count)
            if count == 0 { return (bytes, true) }
            if count > 0 { bytes += piece[..<count] } else if errno != EINTR { return (bytes, false) }
        }
        return (bytes, false)
    }
}
