internal import EntitySchema
internal import Foundation
internal import JSONText

/// Reads `exp` of a JSON Web Token (RFC 7519, 4.1.4) without verifying the token: a hint about when to renew it.
enum JWTExpiry {
    /// By the clock that issued the token; nil if it is no JWT or says nothing about when it expires.
    static func time(of token: String) -> Timestamp? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = decoded(parts[1]), let claims = try? JSONText(bytes),
            let seconds = claims["exp"].flatMap({ $0.kind == .number ? Double($0.text) : nil }),
            (0...largest).contains(seconds)
        else { return nil }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }

    /// The year 9999.
    private static let largest = 253_402_300_799.0

    /// base64url without padding (RFC 7515, 2).
    private static func decoded(_ text: Substring) -> [UInt8]? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: plain + padding).map { Array($0) }
    }
}
