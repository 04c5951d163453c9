internal import Glibc

/// Why a system call failed, in the system's words.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// Such as `ENOENT`.
    package let code: Int32

    package init(_ code: Int32) { self.code = code }

    /// Of the last call that failed on this thread.
    package static var last: SystemError { SystemError(errno) }

    package var description: String { String(cString: strerror(code)) }

    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
}
