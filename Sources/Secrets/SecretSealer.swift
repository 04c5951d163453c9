internal import Crypto
internal import Foundation
package import JSONText

/// Encrypts (seals) secret values for storage, and decrypts (opens) them again.
///
/// AES-256-GCM (NIST SP 800-38D) with a nonce derived from the value by HMAC-SHA256 under a separate key, as in SIV
/// (RFC 5297): the same value of the same field always gives the same text, so unchanged values can be detected.
/// Without the key, the text reveals only which values of one field are equal, and a value's length in steps of 32
/// bytes. A sealed value that was altered, or moved to another field, does not open.
package struct SecretSealer: Sendable {
    package static let keyLength = 32
    private static let prefix = "sealed:1:"
    /// Sealed lengths are padded to a multiple of this.
    private static let step = 32

    private let encryption: SymmetricKey
    private let nonces: SymmetricKey
    private let fingerprints: SymmetricKey
    private let proofs: SymmetricKey
    /// Identifies this key without revealing anything about it.
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
        proofs = derived("proof")
        mark = derived("mark", 16).withUnsafeBytes { Data($0).base64EncodedString() }
    }

    /// The sealed value as a JSON string; null, which reveals nothing, stays null.
    ///
    /// Seals any value, even one that looks sealed already.
    package func seal(_ value: JSONText, of field: SecretField) throws -> JSONText {
        guard value.kind != .null else { return value }
        var authentication = HMAC<SHA256>(key: nonces)
        authentication.update(data: field.name)
        authentication.update(data: [0])
        authentication.update(data: value.bytes)
        let nonce = try AES.GCM.Nonce(data: Array(authentication.finalize()).prefix(12))
        // Space after a value is not part of it (RFC 8259, 2).
        let padding = (Self.step - value.bytes.count % Self.step) % Self.step
        let box = try AES.GCM.seal(
            value.bytes + Array(repeating: UInt8(ascii: " "), count: padding), using: encryption, nonce: nonce,
            authenticating: field.name)
        return .string(Self.prefix + (Data(box.nonce) + box.ciphertext + box.tag).base64EncodedString())
    }

    /// The original value, byte for byte; nil for text that was not sealed for this field with this key.
    package func open(_ sealed: JSONText, of field: SecretField) -> JSONText? {
        guard sealed.kind != .null else { return sealed }
        guard let text = sealed.string, text.hasPrefix(Self.prefix),
            let combined = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            let box = try? AES.GCM.SealedBox(combined: combined),
            let value = try? AES.GCM.open(box, using: encryption, authenticating: field.name)
        else { return nil }
        return try? JSONText(Array(value))
    }

    /// Equal for equal texts; reveals nothing without the key (HMAC-SHA256).
    package func fingerprint(of bytes: [UInt8]) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: bytes, using: fingerprints)).base64EncodedString()
    }

    /// Shows later that a holder of the key wrote this text (HMAC-SHA256).
    package func proof(of bytes: [UInt8]) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: bytes, using: proofs)).base64EncodedString()
    }

    /// Whether `proof` is the text's own under this key.
    package func isProof(_ proof: String, of bytes: [UInt8]) -> Bool {
        guard let code = Data(base64Encoded: proof) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: proofs)
    }
}

/// The field that a value is sealed for.
package struct SecretField: Sendable, Hashable {
    let name: [UInt8]

    package init(entity: String, field: String) {
        // Neither name contains a dot.
        name = Array("\(entity).\(field)".utf8)
    }
}
