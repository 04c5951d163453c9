/// How a caller writes a boolean: `true` or `false`, and no other way.
package enum BooleanText {
    /// Why `text` is neither, with what was probably meant.
    package static func expectation(_ text: String) -> String {
        let meant: String? =
            switch text.lowercased() {
            case "", "1", "yes", "y", "on", "t", "true": "true"
            case "0", "no", "n", "off", "f", "false": "false"
            default: nil
            }
        let given = text.isEmpty ? "nothing" : String(text.prefix(50))
        return "expected true or false, got \(given)" + (meant.map { "; did you mean \($0)?" } ?? "")
    }
}
