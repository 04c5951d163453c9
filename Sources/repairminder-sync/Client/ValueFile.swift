/// A file that has the value of one field, so that it need not stand in the list of arguments, which other users can read.
enum ValueFile {
    static let standardInput = "-"

    static func bytes(_ file: String) throws(CommandFailure) -> [UInt8] {
        if file == standardInput { return try StandardInput.bytes() }
        do {
            return try StandardInput.bytes(of: Environment.ofThisProcess().absolute(file))
        } catch {
            throw CommandFailure(error.status, "\(error.message); text that begins with @ is written with @@")
        }
    }

    /// What messages call it.
    static func name(_ file: String) -> String { file == standardInput ? "standard input" : file }

    /// Without the line break that editors and `echo` put at the end.
    static func withoutLineEnd(_ text: String) -> String {
        // A CRLF is one character.
        ["\n", "\r\n"].contains(text.last) ? String(text.dropLast()) : text
    }
}
