/// Whether a server may have made one text out of another in a way that is never taken for the same: escaped for HTML,
/// cut, with other spaces, signs or case. Only for asking whether a record may be the one that was sent.
enum TextLikeness {
    /// A text of fewer letters and digits is no beginning of another one.
    private static let leastBeginning = 6

    static func mayBecome(_ sent: String, _ answer: String) -> Bool {
        let (sent, answer) = (letters(of: sent), letters(of: answer))
        guard !answer.isEmpty else { return false }
        return sent == answer || answer.count >= leastBeginning && sent.hasPrefix(answer)
    }

    /// The letters and digits in lower case, without escapes of HTML. Swift compares them in any normal form of Unicode.
    private static func letters(of text: String) -> String {
        let plain = text.replacing(#/&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|[a-zA-Z]{2,8});/#) { match in
            let code = match.1.flatMap { UInt32($0) } ?? match.2.flatMap { UInt32($0, radix: 16) }
            return code.flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? ""
        }
        return plain.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}
