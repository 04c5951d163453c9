import Glibc

/// Why the server cannot listen.
package enum ServerError: Error, Equatable, CustomStringConvertible {
    /// Another process listens there: stop it, or choose another address.
    case addressTaken(String)
    /// The system does not allow it: change the address, or the rights.
    case notPermitted(String)
    /// The listener can never work as it is given: change the configuration.
    case unusable(String)
    /// The system ran short of something, or failed; trying again may help.
    case system(String)

    package var description: String {
        switch self {
        case .addressTaken(let message), .notPermitted(let message), .unusable(let message), .system(let message):
            message
        }
    }
}

/// What `errno` says, for a message.
func errorText(_ code: Int32 = errno) -> String {
    String(cString: strerror(code))
}
