import Crypto
import Foundation
import JSONText

/// A public key of minisign, as in the second line of its `.pub` file.
struct MinisignKey: Equatable, Sendable {
    let id: [UInt8]
    private let key: [UInt8]

    /// Nil for text that is no such key.
    init?(_ text: String) {
        guard let data = Data(base64Encoded: text), case let bytes = Array(data), bytes.count == 42,
            bytes.starts(with: Array("Ed".utf8))
        else { return nil }
        id = Array(bytes[2..<10])
        key = Array(bytes[10...])
    }

    fileprivate func isSigned(_ message: [UInt8], by signature: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature, for: message)
    }

    /// As minisign shows it.
    static func name(of id: [UInt8]) -> String { String(hexadecimal: id.reversed()).uppercased() }
}

/// What a `.minisig` file has: a signature of a file, and one of that signature with its trusted comment.
struct MinisignSignature {
    private let isOfHash: Bool
    private let keyID: [UInt8]
    private let signature: [UInt8]
    private let comment: String
    private let commentSignature: [UInt8]

    /// Nil for text that is no such file.
    init?(_ text: String) {
        // CR LF is one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        let prefix = "trusted comment: "
        guard lines.count >= 4, lines[0].hasPrefix("untrusted comment:"), lines[2].hasPrefix(prefix),
            let first = Data(base64Encoded: String(lines[1])), first.count == 74,
            let second = Data(base64Encoded: String(lines[3])), second.count == 64
        else { return nil }
        let bytes = Array(first)
        switch String(decoding: bytes[..<2], as: UTF8.self) {
        case "ED": isOfHash = true
        // As `minisign -l` and old versions sign.
        case "Ed": isOfHash = false
        default: return nil
        }
        keyID = Array(bytes[2..<10])
        signature = Array(bytes[10...])
        comment = String(lines[2].dropFirst(prefix.count))
        commentSignature = Array(second)
    }

    /// The trusted comment. Throws, in words, when this is not the key's signature of the file.
    func check(_ file: [UInt8], _ key: MinisignKey) throws(BundleError) -> String {
        guard keyID == key.id else {
            throw BundleError(
                "it is signed with the key \(MinisignKey.name(of: keyID)), not with \(MinisignKey.name(of: key.id))")
        }
        guard key.isSigned(isOfHash ? BLAKE2b.hash(file) : file, by: signature) else {
            throw BundleError("the signature does not fit: the file was changed after it was signed, or is another one")
        }
        guard key.isSigned(signature + Array(comment.utf8), by: commentSignature) else {
            throw BundleError("the signature of the trusted comment does not fit")
        }
        return comment
    }
}

/// Why a bundle cannot be used.
struct BundleError: Error, Equatable {
    var problem: String

    init(_ problem: String) { self.problem = problem }
}
