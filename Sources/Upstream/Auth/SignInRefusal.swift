internal import Crypto
internal import EntitySchema
internal import JSONText

/// A sign-in that the upstream refused. Of the credentials it has only a salted hash.
struct SignInRefusal: Equatable {
    var salt: String
    /// SHA-256 of the salt and the request, in hexadecimal digits.
    var hash: String
    var time: Timestamp
    /// How often in a row.
    var count: Int
    var message: String

    init(of request: WireRequest, to address: String?, salt: String, time: Timestamp, count: Int, message: String) {
        (self.salt, self.time, self.count, self.message) = (salt, time, count, message)
        hash = Self.hash(of: request, to: address, salt: salt)
    }

    /// Whether `request` would send the same again.
    func concerns(_ request: WireRequest, to address: String?) -> Bool {
        hash == Self.hash(of: request, to: address, salt: salt)
    }

    /// Differs for other credentials, or another upstream.
    static func hash(of request: WireRequest, to address: String?, salt: String) -> String {
        let headers = request.headers.flatMap { [JSONText.string($0.name), .string($0.value)] }
        let parts: [JSONText] = [
            .string(salt), .string(address), .string(request.method), .string(request.path), .array(headers),
            request.body ?? .null, .string(request.text),
        ]
        return String(hexadecimal: SHA256.hash(data: JSONText.array(parts).bytes))
    }
}

extension SignInRefusal {
    var json: JSONText {
        .object(members: [
            ("salt", .string(salt)), ("sha256", .string(hash)), ("time", .string(time.description)),
            ("count", .integer(count)), ("message", .string(message)),
        ])
    }

    /// Nil if `json` is not what the property of that name returns.
    init?(_ json: JSONText) {
        guard let salt = json["salt"]?.string, let hash = json["sha256"]?.string, let message = json["message"]?.string,
            let time = json["time"]?.string.flatMap({ Timestamp(iso8601: $0) }),
            let count = json["count"]?.wholeNumber, count > 0
        else { return nil }
        (self.salt, self.hash, self.time, self.count, self.message) = (salt, hash, time, count, message)
    }
}

/// The file that keeps the last refusal over a restart, mode 0600.
package struct SignInRefusalFile: Sendable {
    private let file: PrivateFile
    private let random: @Sendable () -> UInt64

    /// `random` makes the salts.
    package init(path: String, random: @escaping @Sendable () -> UInt64) {
        file = PrivateFile(path: path, linkAdvice: "delete it")
        self.random = random
    }

    func salt() -> String { (0..<2).map { _ in String(random(), radix: 16) }.joined(separator: "-") }

    /// Nil if there is none, or the file cannot be used.
    func load() -> SignInRefusal? {
        guard let bytes = try? file.read(), let json = try? JSONText(bytes) else { return nil }
        return SignInRefusal(json)
    }

    /// A failure has no effect but that a restart forgets the refusal.
    func save(_ refusal: SignInRefusal) { try? file.write(refusal.json.bytes + [UInt8(ascii: "\n")]) }

    /// A failure has no effect but that these credentials may have to wait after a restart.
    func remove() { _ = try? file.remove() }
}
