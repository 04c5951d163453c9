internal import Foundation
internal import Synchronization

/// The token that every request carries, from a file that only its owner may read.
///
/// Kept in memory; read again when the upstream refuses it, so that a person can renew it without a restart.
package final class BearerToken: Sendable {
    private let path: String
    private let value: Mutex<String>

    /// Throws when the file cannot be read, is empty, or is readable by group or others.
    package init(path: String) throws(BearerTokenError) {
        self.path = path
        value = Mutex(try Self.read(path))
    }

    var current: String { value.withLock { $0 } }

    /// Reads the file again; true when it now holds another token.
    func reload() -> Bool {
        guard let read = try? Self.read(path) else { return false }
        return value.withLock { value in
            defer { value = read }
            return value != read
        }
    }

    private static func read(_ path: String) throws(BearerTokenError) -> String {
        let attributes: [FileAttributeKey: Any]
        let text: String
        do {
            attributes = try FileManager.default.attributesOfItem(atPath: path)
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw BearerTokenError(message: "the token file \(path) cannot be read; check that it exists and is yours")
        }
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
        guard mode & 0o077 == 0 else {
            throw BearerTokenError(message: "the token file \(path) can be read by others; run chmod 600 \(path)")
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw BearerTokenError(message: "the token file \(path) holds no token; expected one line of visible ASCII")
        }
        return token
    }
}

/// A token file that cannot be used; the message says why and what to do.
package struct BearerTokenError: Error, Sendable, Equatable {
    package var message: String
}
