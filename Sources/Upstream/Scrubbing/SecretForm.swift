/// One way to write a secret, as it is looked up in a text without escapes.
///
/// A secret of 8 characters or more is looked up whatever its case and the white space within it, and in base64. A shorter
/// one, such as a passcode, could be part of any word or number: it is looked up only as it is, and only where it is no
/// part of a longer word or number.
struct SecretForm: Hashable {
    /// Not empty; folded like the text, without white space unless it is exact (`TracedText.folded`).
    let bytes: [UInt8]
    /// Whether it must stand alone and in the same case.
    let isExact: Bool
    /// As many bytes at the end of a text that was cut off reveal something.
    let leastRevealing: Int

    private static let long = 8

    /// Empty for a secret of nothing but white space.
    static func all(of secret: String) -> [SecretForm] {
        let plain = TracedText(secret.utf8)
        guard secret.count >= long else {
            return spellings(of: plain, isExact: true).map { SecretForm(bytes: $0, isExact: true, leastRevealing: 3) }
        }
        // The text's escapes are decoded, so what looks like an escape in the secret is decoded as well.
        let once = plain.decoded()
        let layers = [plain] + [once, once.decoded()].filter { $0.bytes.count >= long }
        let texts = layers.flatMap { spellings(of: $0, isExact: false) }
        return Set(texts.map { SecretForm(bytes: $0, isExact: false, leastRevealing: 3) })
            .union(base64(secret.utf8).map { SecretForm(bytes: $0, isExact: false, leastRevealing: 6) })
            .filter { !$0.bytes.isEmpty }
    }

    /// Forms have a `+` for a space.
    private static func spellings(of secret: TracedText, isExact: Bool) -> [[UInt8]] {
        let space = UInt8(ascii: " ")
        let folded = secret.folded(ignoringCase: !isExact, keepingSpaces: true).bytes
        let text = Array(folded.drop { $0 == space }.reversed().drop { $0 == space }.reversed())
        guard !text.isEmpty else { return [] }
        let plain = isExact ? text : text.filter { $0 != space }
        return text.contains(space) ? [plain, text.map { $0 == space ? UInt8(ascii: "+") : $0 }] : [plain]
    }

    // MARK: Base64

    private static let alphabets = ["+/", "-_"].map { last in
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".lowercased().utf8)
    }

    /// The characters that stand for nothing but the secret (RFC 4648), after 0, 1 or 2 bytes of other text before it, in
    /// the standard and the URL alphabet, folded to lower case.
    private static func base64(_ secret: String.UTF8View) -> [[UInt8]] {
        (0...2).flatMap { before in
            let digits = digits([UInt8](repeating: 0, count: before) + Array(secret))
            // A character that also has bits of the text before is left out.
            let own = digits.dropFirst((8 * before + 5) / 6)
            return alphabets.map { alphabet in own.map { alphabet[$0] } }
        }
    }

    /// The bits, six at a time, without a last digit that would not be full.
    private static func digits(_ bytes: [UInt8]) -> [Int] {
        var digits: [Int] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFFF
            count += 8
            while count >= 6 {
                count -= 6
                digits.append(bits >> count & 63)
            }
        }
        return digits
    }
}
