/// Other forms of a key: some servers write a UUID in capitals in one answer and in small letters in another, and
/// Salesforce has ids of 15 characters, which it also writes with three more.
package enum KeyForms {
    /// The same key in its other forms; empty for most keys. No two records have keys that differ only so.
    package static func others(of key: String) -> [String] {
        let bytes = Array(key.utf8)
        switch bytes.count {
        case 36 where isUUID(bytes): return [key.lowercased(), key.uppercased()].filter { $0 != key }
        case 15: return suffix(of: bytes).map { [key + $0] } ?? []
        case 18: return suffix(of: bytes.prefix(15)) == String(key.suffix(3)) ? [String(key.prefix(15))] : []
        default: return []
        }
    }

    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index)
                ? byte == UInt8(ascii: "-") : Character(UnicodeScalar(byte)).isHexDigit
        }
    }

    /// What Salesforce adds: for each five characters, which of them are capitals.
    private static func suffix(of bytes: some Collection<UInt8>) -> String? {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345")
        var values = [0, 0, 0]
        for (index, byte) in bytes.enumerated() {
            let character = Character(UnicodeScalar(byte))
            guard character.isASCII, character.isLetter || character.isNumber else { return nil }
            if character.isUppercase { values[index / 5] |= 1 << (index % 5) }
        }
        return String(values.map { digits[$0] })
    }
}
