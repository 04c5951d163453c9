internal import Crypto

/// An account's id in the name of a file. The id itself can be any text, and the database has it.
enum AccountName {
    /// Whether it can stand in the name of a file as it is.
    static func isPlain(_ account: String) -> Bool {
        (1...64).contains(account.utf8.count) && !account.hasPrefix(".")
            && account.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "._-".utf8.contains(byte)
            }
    }

    /// Half of its SHA-256, so that no other account has the same. The `~` tells it apart from every plain one.
    static func hashed(_ account: String) -> String {
        let digits = SHA256.hash(data: Array(account.utf8)).prefix(16).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return "~\(digits.joined())"
    }
}
