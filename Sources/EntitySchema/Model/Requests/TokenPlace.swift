/// Where a request carries the upstream's token.
package enum TokenPlace: Sendable, Equatable {
    /// In a header, between two texts: `Authorization: Bearer …`, `X-Api-Key: …`.
    case header(name: String, before: String, after: String)
    /// As a parameter of the query: `?api_key=…`.
    case query(name: String)
    /// As a user and a password, written `user:password` (RFC 7617).
    case basic

    /// RFC 6750, 2.1.
    package static let bearer = TokenPlace.header(name: "Authorization", before: "Bearer ", after: "")

    /// What a file with the token has to contain.
    package var expectedText: String { self == .basic ? "one line user:password" : "one line of visible ASCII" }

    /// Whether a request can carry this token here.
    package func accepts(_ token: String) -> Bool {
        if case .basic = self {
            return token.contains(":") && !token.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        }
        return !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
