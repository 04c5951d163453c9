internal import Secrets
internal import Upstream

/// The file with the key that secrets are sealed with: 32 random bytes that nobody but the daemon's user may read.
struct SecretKeyFile {
    private let path: String
    /// Made when it is not there; a file that somebody named is not.
    private let isOurs: Bool

    init(_ configuration: Configuration) {
        self.init(named: configuration.secretKeyFile, stateDirectory: configuration.stateDirectory)
    }

    init(named path: String?, stateDirectory: String) {
        self.path = path ?? stateDirectory + "/secret.key"
        isOurs = path == nil
    }

    /// What seals with this key. The first time a key is made; it is on disk before anything can be sealed with it.
    ///
    /// Throws `TokenFileError` when the file cannot be used: it is missing, open to others or of another length.
    func sealer() throws(TokenFileError) -> SecretSealer {
        if let sealer = try existing() { return sealer }
        guard isOurs else { throw missing }
        var generator = SystemRandomNumberGenerator()
        try file.write((0..<SecretSealer.keyLength).map { _ in generator.next() })
        guard let sealer = try existing() else { throw missing }
        return sealer
    }

    /// Nil when there is no key yet, and one will be made.
    func existing() throws(TokenFileError) -> SecretSealer? {
        guard let key = try file.read() else {
            if isOurs { return nil }
            throw missing
        }
        guard let sealer = SecretSealer(key: key) else {
            throw TokenFileError(
                message: "\(path) holds \(key.count) bytes, but a key has exactly \(SecretSealer.keyLength); "
                    + "put the right file there (head -c 32 /dev/urandom makes a new key)")
        }
        return sealer
    }

    private var file: PrivateFile { PrivateFile(path: path) }

    private var missing: TokenFileError {
        TokenFileError(message: "the key file \(path) is missing; check secret_key_file")
    }
}
