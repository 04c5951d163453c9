import Foundation
import JSONText
import Testing

extension Shop {
    /// The upstream's arguments for a user who can sign in.
    static let userArguments = ["--user", "ada@example.org:right"]

    /// Signs in by password and mailed code, as a person does. The daemon is running and uses the sign-in from then on.
    func signIn() async throws {
        let login = try start("login", "--way", "password")
        try await login.type("ada@example.org")
        try await login.type("right")
        _ = try await login.line(containing: "code")
        let code = try #require(try await admin("mail").last?["code"]?.string)
        try await login.type(code)
        let ended = await login.finish()
        #expect(ended.status == 0, "\(ended.output)")
        #expect(ended.output.contains("signed in as Robin Example (company-1)\n"))
        #expect(ended.output.contains("the running daemon uses this sign-in now"))
    }
}
