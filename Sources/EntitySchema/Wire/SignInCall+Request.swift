internal import Foundation
internal import JSONText

extension SignInCall {
    /// What stands for the token that is exchanged, without the `$`.
    package static let refreshTokenName = "refresh_token"

    /// The call with these stored credentials. No error repeats one of them, or the tokens in it and in the answer.
    package func request(secrets: [String: String], refreshToken old: String? = nil) -> WireRequest {
        let value: (ValueTemplate.Name) -> JSONText? = { name in
            switch name {
            case .secret(let name): secrets[name].map { .string($0) }
            case .value(Self.refreshTokenName): old.map { .string($0) }
            case .value, .now, .field: .none
            }
        }
        let type = isForm ? BodyEncoding.form.mediaType : BodyEncoding.plain.mediaType
        var request = WireRequest(
            method: "POST", path: address,
            headers: [WireRequest.Header("Accept", "application/json"), WireRequest.Header("Content-Type", type)])
        request.headers += headers.map { WireRequest.Header($0.name, $0.value.text(value) ?? "") }
        let json = body.filled(value) ?? .object([:])
        if isForm { request.text = FormBody.text(of: json) } else { request.body = json }
        request.secrets = (secrets.values + [old].compactMap(\.self)).flatMap(Self.spellings)
        if let basic, let user = basic.user.text(value), let password = basic.password.text(value) {
            let pair = Data("\(Entity.percentEncoded(user)):\(Entity.percentEncoded(password))".utf8)
                .base64EncodedString()
            request.headers.append(WireRequest.Header("Authorization", "Basic \(pair)"))
            request.secrets.append(pair)
        }
        request.secretMembers = [token, refreshToken].compactMap(\.self).lastNames
        return request
    }

    /// A credential as it is sent, and as a server that repeats what it got may write it.
    private static func spellings(of secret: String) -> [String] {
        let encoded = Entity.percentEncoded(secret)
        return [
            secret, encoded, encoded.replacing("%20", with: "+"), HTMLText.escaped(secret),
            Data(secret.utf8).base64EncodedString(),
        ]
    }
}

extension TokenCheck {
    package var request: WireRequest {
        var request = WireRequest.get(path)
        request.method = method
        return request
    }
}

extension [Place] {
    /// The names of the members at these places.
    var lastNames: Set<String> {
        Set(flatMap(\.paths).compactMap { $0.split(separator: ".").last.map(String.init) })
    }
}
