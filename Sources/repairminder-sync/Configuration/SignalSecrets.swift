import Upstream

/// The file with the secrets by which the upstream signs its calls, or the daemon those of a hook.
///
/// One on each line, so that a new one can be added before the old one is removed.
struct SignalSecrets {
    let path: String
    /// The key of the configuration that names it.
    var key = "signals.secret_file"

    /// A shorter secret can be guessed.
    private static let shortest = 8

    /// Throws when the file is missing, readable by others, or has no usable secret.
    func read() throws(TokenFileError) -> [[UInt8]] {
        guard let bytes = try PrivateFile(path: path).read() else {
            throw TokenFileError(message: "the file \(path) is missing; check \(key)")
        }
        let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.map(Self.trimmed)
        let secrets = lines.filter { !$0.isEmpty }
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.count >= Self.shortest }) else {
            throw TokenFileError(
                message: "\(path) has no usable secret; expected one of at least \(Self.shortest) characters on each "
                    + "line")
        }
        return secrets
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return Array(line)
    }
}
