internal import EntitySchema
internal import Foundation
internal import SocketServer

/// The token from the server's side.
extension TokenPlace {
    /// The token of a request; nil if it has none here.
    func token(in request: Request) -> String? {
        switch self {
        case .header(let name, let before, let after):
            guard let value = request.headers[single: name], value.count > before.count + after.count,
                value.lowercased().hasPrefix(before.lowercased()), value.hasSuffix(after)
            else { return nil }
            return String(value.dropFirst(before.count).dropLast(after.count))
        case .query(let name):
            let given = PercentCoding.parameters(request.query)?.filter { $0.name == name } ?? []
            return given.count == 1 ? given[0].value : nil
        case .basic:
            let words = request.headers[single: "Authorization"]?.split(separator: " ", maxSplits: 1) ?? []
            guard words.count == 2, words[0].lowercased() == "basic" else { return nil }
            return Data(base64Encoded: String(words[1])).flatMap { String(data: $0, encoding: .utf8) }
        }
    }

    /// Where it belongs, in words.
    var words: String {
        switch self {
        case .header(let name, let before, let after): "\(name): \(before)…\(after)"
        case .query(let name): "the parameter \(name)"
        case .basic: "Authorization: Basic with user:password"
        }
    }

    /// What `WWW-Authenticate` says (RFC 9110, 11.6.1).
    var challenge: String { self == .basic ? #"Basic realm="records""# : "Bearer" }
}
