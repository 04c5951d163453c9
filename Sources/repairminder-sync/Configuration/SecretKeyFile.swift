import Glibc
import Secrets
import SystemCalls
import Upstream

/// The file with the key that encrypts secrets: 32 random bytes, readable only by the daemon's user.
struct SecretKeyFile {
    private let path: String
    private let stateDirectory: String
    /// Whether the file is in the state directory and created when missing; a configured file is not.
    private let isDefault: Bool

    init(_ configuration: Configuration) {
        self.init(named: configuration.secretKeyFile, stateDirectory: configuration.stateDirectory)
    }

    init(named path: String?, stateDirectory: String) {
        self.path = path ?? stateDirectory + "/secret.key"
        self.stateDirectory = stateDirectory
        isDefault = path == nil
    }

    /// Returns a sealer with this key. Creates the key if needed and writes it to disk before anything is encrypted.
    ///
    /// Throws `TokenFileError` when the file is missing, readable by others, or of the wrong length.
    func sealer() throws(TokenFileError) -> SecretSealer {
        if let sealer = try existing() { return sealer }
        guard isDefault else { throw missing }
        var generator = SystemRandomNumberGenerator()
        try file.write((0..<SecretSealer.keyLength).map { _ in generator.next() })
        guard let sealer = try existing() else { throw missing }
        return sealer
    }

    /// Nil when there is no key yet and one will be created.
    func existing() throws(TokenFileError) -> SecretSealer? {
        guard let key = try file.read() else {
            if isDefault { return nil }
            throw missing
        }
        guard let sealer = SecretSealer(key: key) else {
            throw TokenFileError(
                message: "\(path) holds \(key.count) bytes, but a key has exactly \(SecretSealer.keyLength); "
                    + "put the right file there (head -c 32 /dev/urandom makes a new key)")
        }
        return sealer
    }

    /// Whether the file belongs to others: this user cannot check it.
    var isClosed: Bool { access(path, R_OK) != 0 && errno == EACCES }

    /// Whether this user cannot check it because the state directory belongs to another.
    var isInForeignDirectory: Bool {
        guard isDefault, isClosed else { return false }
        return stat(of: stateDirectory)?.st_uid != geteuid()
    }

    private var file: PrivateFile {
        PrivateFile(
            path: path,
            linkAdvice: isDefault ? "put the key itself there, or name its file in secret_key_file" : nil)
    }

    private var missing: TokenFileError {
        TokenFileError(message: "the key file \(path) is missing; check secret_key_file")
    }
}
