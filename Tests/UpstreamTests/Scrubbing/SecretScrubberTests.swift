import Foundation
import Testing

@testable import Upstream

@Suite struct SecretScrubberTests {
    private static let secret = "Tr0ub4dor & 3/x\"ключ"

    private func scrubbed(_ text: String, _ secrets: String...) -> String { SecretScrubber(secrets).scrubbed(text) }

    private static func percent(_ text: String, _ format: String) -> String {
        text.utf8.map { String(format: format, Int($0)) }.joined()
    }

    private static let inASCII = #"tR0ub4dor \u0026 3\/x\"\u043a\u043B\u044e\u0447"#

    @Test(
        "a secret is found in every spelling that an upstream may give it",
        arguments: [
            secret, secret.uppercased(), secret.lowercased(), "Tr0ub4dor\n&  3/x\"ключ", "tr0ub4dor+&+3/x\"ключ",
            #"Tr0ub4dor & 3\/x\"ключ"#, inASCII, #"Tr0ub4dor\n&\t3/x\u0022ключ"#,
            "Tr0ub4dor &amp; 3/x&quot;ключ", "Tr0ub4dor&nbsp;&#38;&#x20;3&#X2f;x&#34ключ",
            "Tr0ub4dor &amp;amp; 3/x&amp;quot;ключ", "TR0UB4DOR &amp; 3\\/X\\&quot;КЛЮЧ",
            percent(secret, "%%%02X"), percent(secret, "%%%02x"), percent(percent(secret, "%%%02x"), "%%%02X"),
            "Tr0ub4dor+%26+3%2Fx%22%D0%BA%D0%BB%D1%8e%d1%87",
        ])
    func spellings(_ written: String) {
        #expect(scrubbed("the password '\(written)' is wrong", Self.secret) == "the password '…' is wrong")
    }

    @Test(
        "a secret is found in capitals too where a letter has two of them, or two small letters have one",
        arguments: [("Straßenbahn", "STRASSENBAHN"), ("STRASSENBAHN", "straßenbahn"), ("κωδικός μου", "ΚΩΔΙΚΌΣ ΜΟΥ")])
    func capitals(_ secret: String, _ written: String) {
        #expect(scrubbed("the password '\(written)' is wrong", secret) == "the password '…' is wrong")
    }

    @Test(
        "base64 of a secret is found wherever it begins, in both alphabets",
        arguments: ["", "a", "ab", "user:", "??"])
    func base64(_ before: String) throws {
        let secret = "s3cret??>>~~password"
        for after in ["", "x", "\"}"] {
            let standard = Data("\(before)\(secret)\(after)".utf8).base64EncodedString()
            let url = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            for text in [standard, url, standard.replacing("/", with: "\\/")] {
                let left = scrubbed("key \(text).", secret)
                #expect(left.contains("…"))
                // What is left has the neighbours and at most a few bits.
                #expect(left.count <= "key .".count + 1 + 2 * (before.utf8.count + after.utf8.count) + 5, "\(left)")
            }
        }
    }

    @Test(
        "a secret is found across the ends of lines, also in base64",
        arguments: ["\n", "\r\n ", "\\r\\n", "&#10;", "%0A"])
    func lines(_ end: String) {
        let secret = "s3cret??>>~~password"
        let encoded = Data(secret.utf8).base64EncodedString()
        for text in [secret, encoded] {
            let broken = text.enumerated().map { $0 > 0 && $0 % 8 == 0 ? end + String($1) : String($1) }.joined()
            let left = scrubbed("key \(broken)", secret)
            #expect(left.hasPrefix("key …") && left.count <= "key …".count + 4, "\(left)")
        }
    }

    @Test("what looks like an escape in a secret is found as well, plain and escaped")
    func escapedSecret() {
        for secret in ["pass%41word\\u0041", "&amp;&lt;secret", #"C:\new\table"#] {
            #expect(scrubbed("<\(secret)>", secret) == "<…>")
            #expect(scrubbed("<\(Self.percent(secret, "%%%02x"))>", secret) == "<…>")
        }
    }

    @Test(
        "ordinary words and what only resembles a secret are kept",
        arguments: [
            "the password is wrong", "100 % of %ZZ &c; \\q \\u12 &#; &#1114112;", "Tr0ub4dor & 3/x", "", "…", "a\\",
        ])
    func others(_ text: String) {
        #expect(scrubbed(text, Self.secret, "", "  ", "1234") == text)
    }

    @Test("a short secret is found as it is, or escaped, where it is no part of a word or number")
    func short() {
        #expect(scrubbed("pin 1234, PIN1234, \"1234\", %31234", "1234") == "pin …, PIN…, \"…\", …")
        #expect(scrubbed("12345, 01234, MTIzNA==", "1234") == "12345, 01234, MTIzNA==")
        #expect(scrubbed("Ann, ann, Annie, &#65;nn", "Ann") == "…, ann, Annie, …")
    }

    @Test("the beginning of a secret at the end of a text that was cut is found")
    func cut() {
        #expect(scrubbed("wrong: Tr0ub4dor &amp; 3…", Self.secret) == "wrong: …")
        #expect(scrubbed("wrong: tr0…", Self.secret) == "wrong: …")
        #expect(scrubbed("wrong: Tr…", Self.secret) == "wrong: Tr…")
        #expect(scrubbed("wrong: tr0ub4d... (cut)", Self.secret) == "wrong: … (cut)")
        let encoded = Data(Self.secret.utf8).base64EncodedString()
        #expect(scrubbed("wrong: \(encoded.prefix(9))…", Self.secret) == "wrong: …")
    }

    @Test("several secrets are found, one inside another and one beside another")
    func several() {
        #expect(scrubbed("a-secret-token a-secret", "a-secret", "a-secret-token") == "… …")
        #expect(scrubbed("firstsecretsecondsecret", "firstsecret", "secondsecret") == "……")
    }

    @Test("a secret of megabytes takes no more than a moment, and its beginning is found", .timeLimit(.minutes(10)))
    func large() {
        let secret = String(repeating: "a &amp;", count: 1_000_000)
        let time = ContinuousClock().measure {
            #expect(scrubbed("wrong: \(secret.prefix(400))…", secret) == "wrong: …")
        }
        #expect(time < .seconds(20))
    }

    @Test("a text about more secrets than can be looked for is not shown")
    func many() {
        let secrets = (0..<100_000).map { "secret-\($0)" }
        #expect(SecretScrubber(secrets).scrubbed("wrong: secret-5") == SecretScrubber.unsearched)
        let long = (0..<100).map { "\($0)" + String(repeating: "x", count: 4000) }
        #expect(SecretScrubber(long).scrubbed("wrong: 7xxx…") == SecretScrubber.unsearched)
    }
}
