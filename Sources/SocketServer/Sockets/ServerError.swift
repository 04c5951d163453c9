/// Why the server cannot listen or run.
package enum ServerError: Error, Equatable, CustomStringConvertible {
    /// Another process is listening there: stop it or choose another address.
    case addressTaken(String)
    /// The system does not permit it: change the address or the permissions.
    case notPermitted(String)
    /// The listener cannot work as configured: change the configuration.
    case unusable(String)
    /// The system is out of a resource or failed; a retry may help.
    case system(String)

    package var description: String {
        switch self {
        case .addressTaken(let message), .notPermitted(let message), .unusable(let message), .system(let message):
            message
        }
    }
}
