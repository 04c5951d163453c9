package import EntitySchema
internal import Foundation
internal import Synchronization

/// A fixed token from a file that only its owner may read.
///
/// Kept in memory and read again when the upstream refuses it, so you can replace it without a restart.
package final class FileToken: Credentials {
    private let path: String
    private let place: TokenPlace
    private let value: Mutex<String>

    /// Throws when the file cannot be read, is readable by group or others, or has no token that fits `place`.
    package init(path: String, for place: TokenPlace) throws(TokenFileError) {
        self.path = path
        self.place = place
        value = Mutex(try Self.read(path, for: place))
    }

    package func current() -> String? { value.withLock { $0 } }

    package func renew(refused: String?) -> Bool {
        if current() != refused { return true }
        guard let read = try? Self.read(path, for: place) else { return false }
        return value.withLock { value in
            defer { value = read }
            return read != refused
        }
    }

    package var remedy: String? { "the token was read from \(path): replace it if it is no longer valid" }

    private static func read(_ path: String, for place: TokenPlace) throws(TokenFileError) -> String {
        try token(in: try PrivateFile(path: path).text(), of: path, for: place)
    }

    /// The token in the text of the file at `path`; nil stands for no file. Throws if there is none that fits `place`.
    package static func token(
        in text: String?, of path: String, for place: TokenPlace
    ) throws(TokenFileError) -> String {
        guard let text else { throw TokenFileError(message: "the token file \(path) is missing; check the path") }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard place.accepts(token) else {
            throw TokenFileError(
                message: "the token file \(path) contains no token; expected \(place.expectedText)")
        }
        return token
    }
}
