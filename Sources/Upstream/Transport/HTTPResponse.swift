/// One whole HTTP response.
package struct HTTPResponse: Sendable, Equatable {
    package var status: Int
    /// In the order they came, repeated ones twice.
    package var headers: [HTTPHeader]
    /// Decoded from gzip or deflate.
    package var body: [UInt8]
    /// Whether the body is known to end where the upstream ended it. False where it may have been cut: it came compressed,
    /// or ended with its connection.
    var isEndCertain = true
    /// What a large body holds of the memory for answers; nil for a small one.
    package internal(set) var share: AnswerShare?

    package init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of this name, without regard to case.
    package func header(_ name: String) -> String? {
        headers.first { HTTPSyntax.isSameName($0.name, name) }?.value
    }

    /// The same; nil if it is empty.
    func filledHeader(_ name: String) -> String? { header(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// The values of all fields of this name.
    func headers(named name: String) -> [String] {
        headers.filter { HTTPSyntax.isSameName($0.name, name) }.map(\.value)
    }

    /// Whether the server says that it repeats the failure of an earlier request with the same idempotency key, as Stripe does.
    ///
    /// Any other refusal, such as 422, is about what the change says, so it counts as if it were new.
    var isRepeatedFailure: Bool {
        guard status >= 500 || [402, 403, 404, 409, 410, 412, 423].contains(status) else { return false }
        return ["Idempotent-Replayed", "Idempotency-Replayed"].contains { header($0)?.lowercased() == "true" }
    }

    /// How long a gateway has kept the response, to the second above; nil if none says that it has.
    package var age: Duration? {
        header("Age").map { .seconds(1 + (UInt32($0).map(Int64.init) ?? 0)) }
    }

    /// Whether a gateway has kept the response. Some send `Age: 0` with what they have just fetched.
    var isRepeated: Bool { age.map { $0 > .seconds(1) } ?? false }
}

/// One field of a request's or a response's header.
package struct HTTPHeader: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
