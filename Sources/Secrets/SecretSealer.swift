internal import Crypto
internal import Foundation
package import JSONText

/// Seals secret values so that they can be stored, and opens them again.
///
/// AES-256-GCM (NIST SP 800-38D) with a nonce that is derived from the value itself by HMAC-SHA256 under a key of its own,
/// as in SIV (RFC 5297): the same value of the same field always becomes the same text, so that what has not changed can
/// be told from what has. Whoever reads the text without the key learns which values of one field are equal, and how long
/// a value is in steps of 32 bytes; nothing else. A sealed value that was altered, or taken to another field, does not
/// open.
package struct SecretSealer: Sendable {
    package static let keyLength = 32
    private static let prefix = "sealed:1:"
    /// Short values are all equally long.
    private static let step = 32

    private let encryption: SymmetricKey
    private let nonces: SymmetricKey
    private let fingerprints: SymmetricKey
    /// Tells this key from others without telling anything of it.
    package let mark: String

    /// Nil unless `key` is 32 bytes, which must be random.
    package init?(key: [UInt8]) {
        guard key.count == Self.keyLength else { return nil }
        // HKDF (RFC 5869): a key for each use.
        func derived(_ use: String, _ count: Int = Self.keyLength) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: key), info: Data("repairminder-sync 1 \(use)".utf8),
                outputByteCount: count)
        }
        encryption = derived("seal")
        nonces = derived("nonce")
        fingerprints = derived("fingerprint")
        mark = derived("mark", 16).withUnsafeBytes { Data($0).base64EncodedString() }
    }

    /// The value as a JSON string that holds it sealed; null, which tells nothing, stays null.
    ///
    /// Seals whatever it is given, also what looks sealed already.
    package func seal(_ value: JSONText, of field: SecretField) throws -> JSONText {
        guard value.kind != .null else { return value }
        var authentication = HMAC<SHA256>(key: nonces)
        authentication.update(data: field.name)
        authentication.update(data: [0])
        authentication.update(data: value.bytes)
        let nonce = try AES.GCM.Nonce(data: Array(authentication.finalize()).prefix(12))
        // Space after a value is no part of it (RFC 8259, 2).
        let padding = (Self.step - value.bytes.count % Self.step) % Self.step
        let box = try AES.GCM.seal(
            value.bytes + Array(repeating: UInt8(ascii: " "), count: padding), using: encryption, nonce: nonce,
            authenticating: field.name)
        return .string(Self.prefix + (Data(box.nonce) + box.ciphertext + box.tag).base64EncodedString())
    }

    /// The value as it was, to the letter; nil for what was not sealed for this field with this key.
    package func open(_ sealed: JSONText, of field: SecretField) -> JSONText? {
        guard sealed.kind != .null else { return sealed }
        guard let text = sealed.string, text.hasPrefix(Self.prefix),
            let combined = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            let box = try? AES.GCM.SealedBox(combined: combined),
            let value = try? AES.GCM.open(box, using: encryption, authenticating: field.name)
        else { return nil }
        return try? JSONText(Array(value))
    }

    /// Tells whether two texts are the same, to who has the key, and nothing to anybody else (HMAC-SHA256).
    package func fingerprint(of bytes: [UInt8]) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: bytes, using: fingerprints)).base64EncodedString()
    }
}

/// The field that a value is sealed for.
package struct SecretField: Sendable, Hashable {
    let name: [UInt8]

    package init(entity: String, field: String) {
        // Neither name has a dot.
        name = Array("\(entity).\(field)".utf8)
    }
}
