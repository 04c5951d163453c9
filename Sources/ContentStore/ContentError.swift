internal import Glibc

/// Why content was not written or read.
package enum ContentError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It has more bytes than it may have: send less.
    case tooLarge(limit: Int)
    /// It is of a type that it may not have: send another; the text says of which it is.
    case unwelcome(String)
    /// The file system does not do what it should: see that there is room, and whose the folder is.
    case failed(String)

    package var description: String {
        switch self {
        case .tooLarge(let limit): "the content is larger than \(limit) bytes"
        case .unwelcome(let what): "the content is not of a type that is taken: \(what)"
        case .failed(let message): message
        }
    }

    static func failing(_ deed: String, _ path: String) -> ContentError {
        .failed("could not \(deed) \(path): \(String(cString: strerror(errno))); check the room there and its owner")
    }
}
