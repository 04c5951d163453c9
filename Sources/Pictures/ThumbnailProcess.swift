internal import CGD
internal import CLinux
internal import Glibc
internal import SystemCalls

/// The body of the process that makes one thumbnail: a picture on standard input, the thumbnail on standard output.
///
/// Before it reads the picture, it drops what it does not need: memory, CPU time, and every system call but those for
/// computing. If the machine runs out of memory, it is killed first.
package enum ThumbnailProcess {
    /// The memory for decoding, on top of the process's initial size. The unit's `MemoryMax=` has room for it.
    static let memory = 192 << 20
    static let seconds = 20
    static let largestInput = 1 << 30

    /// Makes the kernel kill this process rather than the daemon, whose memory limit it shares. Call it while the process
    /// is dumpable: after that, /proc/self belongs to root.
    package static func becomeExpendable() {
        let file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = Glibc.write(file, "1000", 4)
        close(file)
    }

    /// Returns the exit status. Call it while this is the only thread.
    package static func run(side: Int) -> Int32 {
        guard let gd = library(), limitResources() else { return EX_OSERR }
        guard let status = stat(of: STDIN_FILENO), status.st_size > 0, status.st_size <= largestInput,
            let start = mmap(nil, status.st_size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0), start != MAP_FAILED
        else { return PictureProblem.unreadable.rawValue }
        guard confine() else { return EX_OSERR }
        do throws(PictureProblem) {
            let bytes = UnsafeRawBufferPointer(start: start, count: status.st_size)
            var isWritten = false
            try PictureScaler(gd: gd, bytes: bytes, side: side).scale { isWritten = Files.write($0, to: STDOUT_FILENO) }
            return isWritten ? EX_OK : EX_IOERR
        } catch {
            return error.rawValue
        }
    }

    /// From here on this thread can only compute, read and write what is open, and end.
    static func confine() -> Bool { clinux_confine() == 0 }

    /// Loads libgd while files may still be opened, and only in a process that makes a thumbnail.
    private static func library() -> cgd? {
        let functions = UnsafeMutablePointer<cgd>.allocate(capacity: 1)
        defer { functions.deallocate() }
        return cgd_load(functions) != 0 ? functions.pointee : nil
    }

    private static func limitResources() -> Bool {
        // Beside the three standard streams, one more: Landlock's rules are a descriptor for a moment.
        let limits: [(__rlimit_resource, Int)] = [
            (RLIMIT_AS, addressSpace() + memory), (RLIMIT_CPU, seconds), (RLIMIT_FSIZE, 0), (RLIMIT_CORE, 0),
            (RLIMIT_NOFILE, 4),
        ]
        return limits.allSatisfy { resource, value in
            var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
            return setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
        }
    }

    /// The current size in bytes.
    private static func addressSpace() -> Int {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(file, &text, text.count)
        let digits = text.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: " ") }
        return (Int(String(decoding: digits, as: UTF8.self)) ?? 0) * Int(getpagesize())
    }
}
