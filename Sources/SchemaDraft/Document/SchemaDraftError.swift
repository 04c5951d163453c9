/// Why no schema can be drafted.
package enum SchemaDraftError: Error, Sendable, Equatable {
    /// It cannot be read, or describes no API.
    case unreadable(String)
    /// It describes an API without anything that can be synced, or without what was asked for.
    case nothing(String)

    package var message: String {
        switch self {
        case .unreadable(let message), .nothing(let message): message
        }
    }
}
