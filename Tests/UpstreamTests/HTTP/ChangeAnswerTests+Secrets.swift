import EntitySchema
import JSONText
import Testing

@testable import Upstream

/// What messages quote of an answer that acknowledges nothing.
extension ChangeAnswerTests {
    @Test("a quoted answer repeats no secret of the record")
    func secrets() async throws {
        let sent = try await send(#"{"message":"pin 1234 kept","data":{"pin":"9876","x":"9876"}}"#) {
            $0.secrets = ["1234"]
            $0.secretMembers = ["pin"]
        }
        #expect(sent.outcome == .unclear)
        #expect(!sent.message.contains("1234") && !sent.message.contains("9876"), "\(sent.message)")
        // In text that is not JSON secrets cannot be told from the rest.
        let cut = try await send(#"{"data":{"pin":"98"#) { $0.secretMembers = ["pin"] }
        #expect(cut.message.hasSuffix("without saying that the change was accepted"))
    }

    @Test("an answer with more secrets than can be looked for is not quoted")
    func manySecrets() async throws {
        let pins = (0..<2000).map { "\"their-secret-\($0)\"" }.joined(separator: ",")
        let sent = try await send("{\"message\":\"no\",\"pin\":[\(pins)]}") { $0.secretMembers = ["pin"] }
        #expect(sent.outcome == .unclear)
        #expect(sent.message.hasSuffix("without saying that the change was accepted"), "\(sent.message)")
    }

    @Test("a secret is found however JSON spells it")
    func spellings() async throws {
        let body = #"{"x":"s\/4 \"K\u00e9y","y":"s/4 \"Kéy","z":"s\/4 \"K\u00E9y","n":1}"#
        let sent = try await send(body) { $0.secrets = ["s/4 \"Kéy"] }
        #expect(sent.message.hasSuffix(#"{"x":"…","y":"…","z":"…","n":1}"#), "\(sent.message)")
    }
}
