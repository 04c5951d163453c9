internal import JSONText

/// How an upstream may quote a secret: as it is, on one line, and as JSON writers escape it.
enum SecretSpelling {
    static func all(of secret: String) -> [String] {
        // Nothing in most tokens is ever escaped.
        guard secret.utf8.contains(where: { $0 < 0x30 || $0 == UInt8(ascii: "\\") || $0 > 0x7E }) else {
            return [secret]
        }
        let line = secret.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let escaped = String(JSONText.string(secret).text.dropFirst().dropLast())
        let spellings = [escaped, inASCII(escaped, uppercase: false), inASCII(escaped, uppercase: true)]
        let withSlashes = spellings.map { $0.replacing("/", with: "\\/") }
        return ([secret, line] + spellings + withSlashes).filter { !$0.isEmpty }
    }

    private static func inASCII(_ text: String, uppercase: Bool) -> String {
        var result = ""
        for unit in text.utf16 {
            if unit < 0x7F {
                result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            } else {
                let digits = String(unit, radix: 16, uppercase: uppercase)
                result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            }
        }
        return result
    }
}
