/// The stored credentials of an installation: for each name, a file that only its owner may read.
///
/// Files are read at each sign-in, so you can replace one without a restart.
package struct SecretFiles: Sendable, Equatable {
    /// Name → path.
    package var paths: [String: String]

    package init(paths: [String: String]) {
        self.paths = paths
    }

    /// The credentials of these names. Throws for the first that is not there, is empty, or that others may read; the
    /// message never has its text.
    package func values(of names: [String]) throws(TokenFileError) -> [String: String] {
        var values: [String: String] = [:]
        for name in names { values[name] = try value(of: name) }
        return values
    }

    /// What is wrong with the credentials of these names; nil if a sign-in can use them.
    package func problem(with names: [String]) -> String? {
        do {
            _ = try values(of: names)
            return nil
        } catch {
            return error.message
        }
    }

    private func value(of name: String) throws(TokenFileError) -> String {
        guard let path = paths[name] else {
            throw TokenFileError(
                message: "the credential \(name) is not stored; name its file in upstream.secrets.\(name)")
        }
        guard var text = try PrivateFile(path: path).text() else {
            throw TokenFileError(message: "the file \(path) with the credential \(name) is missing; check the path")
        }
        if text.last?.isNewline == true { text.removeLast() }
        guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw TokenFileError(message: "\(path) contains no credential; expected one line of text")
        }
        return text
    }
}
