internal import Crypto

/// Signs messages, and checks that one comes from someone who knows a secret.
///
/// Every comparison takes the same time, whatever differs.
package struct MessageSignature: Sendable {
    private let secret: [UInt8]

    package init(secret: [UInt8]) { self.secret = secret }

    /// Whether one of the codes is the message's HMAC-SHA256 (RFC 2104). Reads the message once, however many there are.
    package func isValidSHA256(_ codes: [[UInt8]], of message: [UInt8]) -> Bool {
        isValid(codes, of: message, by: SHA256.self)
    }

    /// The HMAC-SHA256 of a message.
    package func sha256(of message: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
    }

    /// The same for HMAC-SHA512.
    package func isValidSHA512(_ codes: [[UInt8]], of message: [UInt8]) -> Bool {
        isValid(codes, of: message, by: SHA512.self)
    }

    private func isValid<Hash: HashFunction>(_ codes: [[UInt8]], of message: [UInt8], by hash: Hash.Type) -> Bool {
        guard !codes.isEmpty else { return false }
        let valid = HMAC<Hash>.authenticationCode(for: message, using: SymmetricKey(data: secret))
        return codes.contains { valid == $0 }
    }

    /// Whether the text is the secret itself: the codes of both under a key of this moment are compared.
    package func isSecret(_ text: [UInt8]) -> Bool {
        let key = SymmetricKey(size: .bits256)
        let code = HMAC<SHA256>.authenticationCode(for: secret, using: key)
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text, using: key)
    }
}
