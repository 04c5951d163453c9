internal import EntitySchema
internal import Foundation
internal import JSONText
internal import SocketServer

/// A sign-in with stored credentials from the server's side.
///
/// Of two credentials, the first is the user's name; the last is the password. What else the schema sends must be there
/// as well.
extension SignIn {
    mutating func open(_ call: SignInCall, _ request: Request, at now: Timestamp) throws(Refusal) -> [Part] {
        let names = call.secretNames
        var secrets = Dictionary(uniqueKeysWithValues: names.map { ($0, user.password) })
        if names.count > 1 { secrets[names[0]] = user.name }
        let expected = call.request(secrets: secrets)
        let own: Set = ["accept", "content-type"]
        for header in expected.headers where !own.contains(header.name.lowercased()) {
            guard request.headers[single: header.name] == header.value else { throw Self.wrong }
        }
        let isRight =
            expected.text.map { Array($0.utf8) == request.body }
            ?? ((try? JSONText(request.body)).flatMap { body in expected.body.map { $0.isEquivalent(to: body) } }
                ?? false)
        guard isRight else { throw Self.wrong }
        return issue(token: call.token, refreshToken: call.refreshToken, call.expiry, at: now)
    }

    private static var wrong: Refusal { .notSignedIn("the name or the password is wrong") }

    /// An unsigned JWT that expires at this time.
    func jwt(_ random: String, until end: Timestamp) -> String {
        let claims = JSONText.object(["exp": .integer(Int(end.milliseconds / 1000)), "jti": .string(random)])
        return [#"{"alg":"none","typ":"JWT"}"#, claims.text].map { text in
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").filter {
                $0 != "="
            }
        }.joined(separator: ".") + "."
    }
}
