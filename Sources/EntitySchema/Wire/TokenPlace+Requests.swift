internal import Foundation

/// The token in requests.
extension TokenPlace {
    /// The texts that no error may repeat: the token in all forms that it is sent in.
    package func secrets(of token: String) -> [String] {
        switch self {
        case .header: [token]
        case .query: [token, Entity.percentEncoded(token)]
        case .basic:
            [token, Self.encoded(token)]
                + [token.firstIndex(of: ":").map { String(token[$0...].dropFirst()) }].compactMap(\.self)
        }
    }

    private static func encoded(_ token: String) -> String { Data(token.utf8).base64EncodedString() }

    func authorizing(_ request: WireRequest, by token: String) -> WireRequest {
        var request = request
        request.secrets += secrets(of: token)
        switch self {
        case .header(let name, let before, let after):
            request.headers.append(WireRequest.Header(name, before + token + after))
        case .query(let name): request.path = request.path.adding([QueryItem(name: name, value: token)])
        case .basic:
            request.headers.append(WireRequest.Header("Authorization", "Basic \(Self.encoded(token))"))
        }
        return request
    }

    /// An address without the token: an upstream may repeat it in the address of a list's next page.
    package func leavingOut(of address: String) -> String {
        guard case .query(let name) = self, let question = address.firstIndex(of: "?") else { return address }
        let names = [name, Entity.percentEncoded(name)].map { "\($0)=" }
        let kept = address[question...].dropFirst().split(separator: "&").filter { item in
            !names.contains { item.hasPrefix($0) }
        }
        return address[..<question] + (kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
    }
}
